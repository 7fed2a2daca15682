// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"embed"
	"strings"
)

//go:embed script/*.lua
var files embed.FS

// script is the one that makes draws: the files in their order.
var script = source("script/0clock.lua", "script/1state.lua", "script/2events.lua", "script/3draw.lua",
	"script/4divide.lua", "script/5large.lua", "script/6small.lua", "script/7tell.lua", "script/8main.lua")

func source(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		b.Write(text)
	}
	return b.String()
}
