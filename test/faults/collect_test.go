// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// proof is a test that is named after faults.
type proof struct {
	name, file string
	ids        []string
	told       []told
	// problem is why it may not count, or empty.
	problem string
}

// told is what the comment of a test says about one fault.
type told struct{ id, fault, headgate string }

var (
	named = regexp.MustCompile(`^Test((?:[A-E]\d{1,2}And)*[A-E]\d{1,2})[A-Z]`)
	line  = regexp.MustCompile(`^(Fault ([A-E]\d{1,2})|Headgate): (.*)$`)
)

// collect finds the tests below root that are named after faults, and the names of all tests.
func collect(root string) (proofs []proof, tests map[string]bool, err error) {
	tests = map[string]bool{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		found, err := inFile(filepath.ToSlash(rel), content, tests)
		proofs = append(proofs, found...)
		return err
	})
	return proofs, tests, err
}

// inFile reads one file.
func inFile(path string, content []byte, tests map[string]bool) (proofs []proof, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	built := isBuilt(file)
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
			continue
		}
		tests[f.Name.Name] = true
		m := named.FindStringSubmatch(f.Name.Name)
		if m == nil {
			continue
		}
		p := proof{name: f.Name.Name, file: path, ids: strings.Split(m[1], "And")}
		if p.told, err = tells(f.Doc.Text()); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, p.name, err)
		}
		switch {
		case !built:
			p.problem = "its file is left out of the suites that are run"
		case skips(f):
			p.problem = "it may be skipped"
		}
		proofs = append(proofs, p)
	}
	return proofs, nil
}

// tells reads what a comment says of faults: each Fault and the Headgate that follows it, up to the end of its paragraph.
func tells(comment string) (all []told, err error) {
	var into *string
	for text := range strings.Lines(comment) {
		text = strings.TrimSpace(text)
		m := line.FindStringSubmatch(text)
		switch {
		case m == nil && text == "":
			into = nil
		case m == nil && into != nil:
			*into += " " + text
		case m == nil:
		case m[2] != "":
			all = append(all, told{id: m[2], fault: m[3]})
			into = &all[len(all)-1].fault
		case len(all) == 0 || all[len(all)-1].headgate != "":
			return nil, fmt.Errorf("%q answers no fault", text)
		default:
			all[len(all)-1].headgate = m[3]
			into = &all[len(all)-1].headgate
		}
	}
	for _, t := range all {
		if t.fault == "" || t.headgate == "" {
			return nil, fmt.Errorf("fault %s is told without what Headgate does", t.id)
		}
	}
	return all, nil
}

// isBuilt says whether a suite has the file: all run on Linux with the race detector, and the tests of a real node with
// the tag e2e.
func isBuilt(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if !constraint.IsGoBuild(c.Text) || c.Pos() > file.Package {
				continue
			}
			expr, err := constraint.Parse(c.Text)
			if err != nil || !expr.Eval(func(tag string) bool {
				return tag == "e2e" || tag == "race" || tag == "linux" || tag == "unix" || strings.HasPrefix(tag, "go1.")
			}) {
				return false
			}
		}
	}
	return true
}

// skips says whether a test calls Skip, Skipf or SkipNow of a testing.T.
func skips(f *ast.FuncDecl) (found bool) {
	of := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			for _, p := range n.Params.List {
				if star, ok := p.Type.(*ast.StarExpr); ok && isTesting(star.X) || isTesting(p.Type) {
					for _, name := range p.Names {
						of[name.Name] = true
					}
				}
			}
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				break
			}
			x, ok := sel.X.(*ast.Ident)
			found = found || ok && (of[x.Name] && strings.HasPrefix(sel.Sel.Name, "Skip") || x.Name == "testing" && sel.Sel.Name == "Short")
		}
		return true
	})
	return found
}

func isTesting(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == "testing" && (sel.Sel.Name == "T" || sel.Sel.Name == "TB")
}
