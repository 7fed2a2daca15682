// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package api

const (
	deferKeyRule  = "Defer requires credentialKey"
	deferredRule  = "deferred says nothing unless"
	failoverRule  = "failoverTo is required with onCeilingExceeded: Failover, and forbidden without"
	elsewhereRule = "throttle.failoverTo must name another provider"
	deferredAt    = p0 + ".deferred"
	matchAt       = lane0 + ".match"
)

// deferring is a provider that defers within bounds.
func deferring(bounds string) string {
	return provider("credentialKey: a, deadline: {onExceeded: Defer}, deferred: {" + bounds + "}")
}

func match(fragment string) string { return lane("match: {" + fragment + "}") }

var orderCases = map[string]schemaCase{
	"all": {lane("priority: -1000, weight: 100, hold: 0s, credentialKey: b-1, queue: {maxBytes: 32Mi}, " +
		"match: {header: {name: x-kind, value: \"a b\"}, models: [a*], paths: [/v1/*, \"*\"]}"), "", ""},
	"highest priority":    {lane("priority: 1000"), "", ""},
	"priority too high":   {lane("priority: 1001"), lane0 + ".priority", "less than or equal to 1000"},
	"priority too low":    {lane("priority: -1001"), lane0 + ".priority", "greater than or equal to -1000"},
	"no weight":           {lane("weight: 0"), lane0 + ".weight", "greater than or equal to 1"},
	"weight too large":    {lane("weight: 101"), lane0 + ".weight", "less than or equal to 100"},
	"hold":                {lane("hold: 1x"), lane0 + ".hold", "should match"},
	"key":                 {lane("credentialKey: A"), lane0 + ".credentialKey", "should match"},
	"key too long":        {lane("credentialKey: " + x(64)), lane0 + ".credentialKey", "may not be more than 63"},
	"no bytes":            {lane("queue: {maxBytes: 0}"), lane0 + ".queue.maxBytes", wholeFrom1},
	"bytes of words":      {lane("queue: {maxBytes: many}"), lane0 + ".queue.maxBytes", ""},
	"bytes too many":      {lane("queue: {maxBytes: 2T}"), lane0 + ".queue.maxBytes", wholeFrom1},
	"header without name": {match("header: {value: a}"), matchAt + ".header.name", "Required value"},
	"header of a space":   {match("header: {name: a b}"), matchAt + ".header.name", "should match"},
	"header too long":     {match("header: {name: " + x(64) + "}"), matchAt + ".header.name", "may not be more than 63"},
	"empty value":         {match("header: {name: a, value: \"\"}"), matchAt + ".header.value", "at least 1"},
	"value of a break":    {match("header: {name: a, value: \"a\\nb\"}"), matchAt + ".header.value", "should match"},
	"value not ASCII":     {match("header: {name: a, value: é}"), matchAt + ".header.value", "should match"},
	"value of an end":     {match("header: {name: a, value: \"a \"}"), matchAt + ".header.value", "should match"},
	"value too long":      {match("header: {name: a, value: " + x(257) + "}"), matchAt + ".header.value", "may not be more than 256"},
	"empty model":         {match("models: [\"\"]"), matchAt + ".models[0]", "at least 1"},
	"model too long":      {match("models: [" + x(129) + "]"), matchAt + ".models[0]", "may not be more than 128"},
	"repeated model":      {match("models: [a, a]"), matchAt + ".models[1]", "Duplicate value"},
	"too many models":     {match("models: [" + list(17, "m%d") + "]"), matchAt + ".models", "Too many"},
	"path without slash":  {match("paths: [v1]"), matchAt + ".paths[0]", "should match"},
	"path too long":       {match("paths: [/" + x(256) + "]"), matchAt + ".paths[0]", "may not be more than 256"},
	"too many paths":      {match("paths: [" + list(17, "/%d") + "]"), matchAt + ".paths", "Too many"},
	"unknown rule":        {match("user: a"), matchAt + ".user", "unknown field"},
}

var insteadCases = map[string]schemaCase{
	"Defer, and its bounds":  {deferring("maxAge: 1m, maxAttempts: 100, maxCalls: 100000, maxBytes: 16Gi, callbackHosts: [a.example.com, \"*.b.example.com\"]"), "", ""},
	"longest age":            {deferring("maxAge: 168h, maxBytes: 1048576"), "", ""},
	"no bounds":              {provider("credentialKey: a, throttle: {onCeilingExceeded: Defer}"), "", ""},
	"the app's key":          {provider("deadline: {onExceeded: Defer}"), p0, deferKeyRule},
	"the app's key, ceiling": {provider("throttle: {onCeilingExceeded: Defer}"), p0, deferKeyRule},
	"nothing deferred":       {provider("credentialKey: a, deferred: {}"), p0, deferredRule},
	"declined":               {provider("credentialKey: a, deferred: {}, deadline: {onExceeded: Decline}, throttle: {maxAttempts: 1}"), p0, deferredRule},
	"age too short":          {deferring("maxAge: 59s"), deferredAt, "maxAge must be from 1m to 168h"},
	"age too long":           {deferring("maxAge: 168h1ms"), deferredAt, "maxAge must be from 1m to 168h"},
	"age of days":            {deferring("maxAge: 7d"), deferredAt + ".maxAge", "should match"},
	"no attempts":            {deferring("maxAttempts: 0"), deferredAt + ".maxAttempts", "greater than or equal to 1"},
	"attempts":               {deferring("maxAttempts: 101"), deferredAt + ".maxAttempts", "less than or equal to 100"},
	"no calls":               {deferring("maxCalls: 0"), deferredAt + ".maxCalls", "greater than or equal to 1"},
	"calls":                  {deferring("maxCalls: 100001"), deferredAt + ".maxCalls", "less than or equal to 100000"},
	"few bytes":              {deferring("maxBytes: 1M"), deferredAt + ".maxBytes", "from 1Mi to 16Gi"},
	"few bytes, a number":    {deferring("maxBytes: 1048575"), deferredAt + ".maxBytes", "from 1Mi to 16Gi"},
	"bytes":                  {deferring("maxBytes: 17Gi"), deferredAt + ".maxBytes", "from 1Mi to 16Gi"},
	"host of a scheme":       {deferring("callbackHosts: [\"https://a.example.com\"]"), deferredAt + ".callbackHosts[0]", "should match"},
	"host of a port":         {deferring("callbackHosts: [\"a.example.com:443\"]"), deferredAt + ".callbackHosts[0]", "should match"},
	"host of an address":     {deferring("callbackHosts: [10.0.0.1]"), deferredAt + ".callbackHosts[0]", "should match"},
	"host of IPv6":           {deferring("callbackHosts: [\"[::1]\"]"), deferredAt + ".callbackHosts[0]", "should match"},
	"host of one part":       {deferring("callbackHosts: [localhost]"), deferredAt + ".callbackHosts[0]", "should match"},
	"every host":             {deferring("callbackHosts: [\"*\"]"), deferredAt + ".callbackHosts[0]", "should match"},
	"star within":            {deferring("callbackHosts: [\"a.*.example.com\"]"), deferredAt + ".callbackHosts[0]", "should match"},
	"host in capitals":       {deferring("callbackHosts: [A.example.com]"), deferredAt + ".callbackHosts[0]", "should match"},
	"repeated host":          {deferring("callbackHosts: [a.example.com, a.example.com]"), deferredAt + ".callbackHosts[1]", "Duplicate value"},
	"too many hosts":         {deferring("callbackHosts: [" + list(17, "h%d.example.com") + "]"), deferredAt + ".callbackHosts", "Too many"},
	"failover": {"providers: [{name: openai, throttle: {onCeilingExceeded: Failover, failoverTo: b}}, " +
		"{name: b, dialect: OpenAI, credentialKey: b}]", "", ""},
	"failover to none":      {provider("throttle: {onCeilingExceeded: Failover}"), p0 + ".throttle", failoverRule},
	"to, without Failover":  {provider("throttle: {failoverTo: b}"), p0 + ".throttle", failoverRule},
	"to, with Decline":      {provider("throttle: {onCeilingExceeded: Decline, failoverTo: b}"), p0 + ".throttle", failoverRule},
	"failover to itself":    {provider("throttle: {onCeilingExceeded: Failover, failoverTo: openai}"), p0, elsewhereRule},
	"failover in capitals":  {provider("throttle: {onCeilingExceeded: Failover, failoverTo: B}"), p0 + ".throttle.failoverTo", "should match"},
	"failover of deadlines": {provider("deadline: {onExceeded: Failover}"), p0 + ".deadline.onExceeded", `"Decline", "Defer"`},
}
