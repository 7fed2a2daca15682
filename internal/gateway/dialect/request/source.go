// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/jsonscan"
)

// described is what a source says of a medium.
type described struct {
	mediaType string
	data      jsonscan.String
	// text: the data is text as it stands; coded: it is in base64, whatever its type.
	text, coded bool
	// nested content has been counted.
	nested bool
}

// source reads {"type":"base64","media_type":"image/png","data":"…"} and its like in any order of their members;
// the data of a text is text, and content blocks cost what they hold.
func (r *reader) source(n role, told medium) media {
	d := described{coded: n == blob}
	r.Enter('{')
	for first := true; ; {
		key, more := r.Key(&first)
		if !more {
			break
		}
		r.describe(&d, sources[keyOf(key)])
	}
	return r.settle(d, told)
}

type field uint8

const (
	unknownField field = iota
	typeField
	mediaTypeField
	dataField
	contentField
)

var sources = map[string]field{
	"type": typeField, "media_type": mediaTypeField, "mimeType": mediaTypeField, "mime_type": mediaTypeField,
	"data": dataField, "bytes": dataField, "base64String": dataField, "text": contentField, "content": contentField,
}

func keyOf(key jsonscan.String) string {
	if len(key.Raw) > longestName {
		return ""
	}
	return key.Value()
}

func (r *reader) describe(d *described, f field) {
	isString := r.Kind() == '"'
	switch {
	case f == contentField:
		d.nested = true
		r.count(r.walk(prompt, unstated), unstated)
	case f == unknownField, !isString:
		r.Skip()
	case f == mediaTypeField:
		if value, _ := r.Text(); len(value.Raw) <= longestName {
			d.mediaType = value.Value()
		}
	case f == dataField:
		d.data, _ = r.Text()
	case f == typeField:
		value, _ := r.Text()
		d.text, d.coded = value.Is("text"), d.coded || value.Is("base64")
	}
}

func (r *reader) settle(d described, told medium) media {
	isText := strings.HasPrefix(d.mediaType, "text")
	switch {
	case d.text, isText && !d.coded:
		r.plainText(d.data)
	case isText && len(d.data.Raw) > 0:
		r.coded(d.data)
	case d.nested:
	case told != unstated:
		r.request.MediaTokens += r.cost(told)
	case d.mediaType != "":
		r.request.MediaTokens += r.cost(typeOf(d.mediaType))
	case len(d.data.Raw) > 0, d.coded:
		return media{references: 1} // of no stated type: a document unless said otherwise
	default:
		return media{sources: 1} // by URL or by file: an image unless said otherwise
	}
	return media{}
}
