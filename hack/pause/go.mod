module github.com/headgate-dev/headgate/hack/pause

go 1.26.0
