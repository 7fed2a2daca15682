// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
)

// schemaCase is a spec and what the schema says of it.
type schemaCase struct {
	spec string
	// path is where the error is; empty if the spec is good.
	path string
	// message is part of what the API server says.
	message string
}

func (c schemaCase) document() string {
	return head + "spec:\n  " + strings.ReplaceAll(c.spec, "\n", "\n  ") + "\n"
}

func provider(fragment string) string { return "providers: [{name: openai, " + fragment + "}]" }

func limit(fragment string) string { return provider("limits: [{name: a, " + fragment + "}]") }

func lane(fragment string) string { return provider("lanes: [{name: a, " + fragment + "}]") }

func selector(fragment string) string {
	return "providers: [{name: openai}]\npodSelector: {" + fragment + "}"
}

// list repeats an item with %d in it.
func list(n int, item string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(item, i)
	}
	return strings.Join(items, ", ")
}

const (
	p0     = "spec.providers[0]"
	l0     = p0 + ".limits[0]"
	lane0  = p0 + ".lanes[0]"
	expr0  = "spec.podSelector.matchExpressions[0]"
	labels = "spec.podSelector.matchLabels"

	wholeFrom0  = "must be a whole number from 0 to 1T"
	wholeFrom1  = "must be a whole number from 1 to 1T"
	perRule     = "per is required, except with budget InFlight, where it is forbidden"
	valuesRule  = "values are required with In and NotIn, and forbidden with Exists and DoesNotExist"
	labelsRule  = "a label key has 1 to 317 characters and a value at most 63"
	backoffRule = "base must not be longer than cap"
	hundredRule = "the lanes' reservedPercent add up to more than 100"
	perMinute   = "budget: Requests, per: Minute, amount: "
)

var x = func(n int) string { return strings.Repeat("x", n) }

var specCases = map[string]schemaCase{
	"smallest":                {"providers: [{name: openai}]", "", ""},
	"no providers":            {"mode: Enforce", "spec.providers", "Required value"},
	"empty providers":         {"providers: []", "spec.providers", "should have at least 1 items"},
	"sixteen providers":       {"providers: [" + list(16, "{name: p%d, baseURL: https://x.example.com}") + "]", "", ""},
	"seventeen providers":     {"providers: [" + list(17, "{name: p%d, baseURL: https://x.example.com}") + "]", "spec.providers", "Too many"},
	"repeated provider":       {"providers: [{name: openai}, {name: openai}]", "spec.providers[1]", "Duplicate value"},
	"mode":                    {"mode: Observe\nproviders: [{name: openai}]", "", ""},
	"unknown mode":            {"mode: Watch\nproviders: [{name: openai}]", "spec.mode", `"Enforce", "Observe"`},
	"empty mode":              {"mode: \"\"\nproviders: [{name: openai}]", "spec.mode", "Unsupported value"},
	"null mode":               {"mode: null\nproviders: [{name: openai}]", "", ""},
	"mode of a number":        {"mode: 1\nproviders: [{name: openai}]", "spec.mode", "must be of type string"},
	"max gateways":            {"maxGateways: 1\nproviders: [{name: openai}]", "", ""},
	"most gateways":           {"maxGateways: 10000\nproviders: [{name: openai}]", "", ""},
	"no gateways":             {"maxGateways: 0\nproviders: [{name: openai}]", "spec.maxGateways", "greater than or equal to 1"},
	"too many gateways":       {"maxGateways: 10001\nproviders: [{name: openai}]", "spec.maxGateways", "less than or equal to 10000"},
	"gateways in quotes":      {"maxGateways: \"4\"\nproviders: [{name: openai}]", "spec.maxGateways", "must be of type integer"},
	"half a gateway":          {"maxGateways: 1.5\nproviders: [{name: openai}]", "spec.maxGateways", "must be of type int32"},
	"unknown field":           {"providers: [{name: openai}]\nmodes: x", "spec.modes", "unknown field"},
	"unknown field deep down": {limit("budget: Requests, per: Minute, amount: 1, max: 2"), l0 + ".max", "unknown field"},
	"field in another case":   {"Mode: Enforce\nproviders: [{name: openai}]", "spec.Mode", "unknown field"},
}

var selectorCases = map[string]schemaCase{
	"empty":                     {selector(""), "", ""},
	"labels":                    {selector("matchLabels: {a: b, c.example.com/d: \"\"}"), "", ""},
	"most labels":               {selector("matchLabels: {" + list(16, "k%d: v") + "}"), "", ""},
	"too many labels":           {selector("matchLabels: {" + list(17, "k%d: v") + "}"), labels, "Too many"},
	"label value too long":      {selector("matchLabels: {a: " + x(64) + "}"), labels, labelsRule},
	"label key too long":        {selector("matchLabels: {? " + x(318) + " : b}"), labels, labelsRule},
	"empty label key":           {selector("matchLabels: {\"\": b}"), labels, labelsRule},
	"In":                        {selector("matchExpressions: [{key: a, operator: In, values: [b, \"\"]}]"), "", ""},
	"NotIn":                     {selector("matchExpressions: [{key: a, operator: NotIn, values: [b]}]"), "", ""},
	"Exists":                    {selector("matchExpressions: [{key: a, operator: Exists}]"), "", ""},
	"DoesNotExist, empty list":  {selector("matchExpressions: [{key: a, operator: DoesNotExist, values: []}]"), "", ""},
	"In without values":         {selector("matchExpressions: [{key: a, operator: In}]"), expr0, valuesRule},
	"NotIn with an empty list":  {selector("matchExpressions: [{key: a, operator: NotIn, values: []}]"), expr0, valuesRule},
	"Exists with values":        {selector("matchExpressions: [{key: a, operator: Exists, values: [b]}]"), expr0, valuesRule},
	"no operator":               {selector("matchExpressions: [{key: a}]"), expr0 + ".operator", "Required value"},
	"unknown operator":          {selector("matchExpressions: [{key: a, operator: Near}]"), expr0 + ".operator", `"In"`},
	"no key":                    {selector("matchExpressions: [{operator: Exists}]"), expr0 + ".key", "Required value"},
	"key too long":              {selector("matchExpressions: [{operator: Exists, key: " + x(318) + "}]"), expr0 + ".key", "may not be more than 317"},
	"value too long":            {selector("matchExpressions: [{key: a, operator: In, values: [" + x(64) + "]}]"), expr0 + ".values[0]", "may not be more than 63"},
	"repeated value":            {selector("matchExpressions: [{key: a, operator: In, values: [b, b]}]"), expr0 + ".values[1]", "Duplicate value"},
	"most values":               {selector("matchExpressions: [{key: a, operator: In, values: [" + list(32, "v%d") + "]}]"), "", ""},
	"too many values":           {selector("matchExpressions: [{key: a, operator: In, values: [" + list(33, "v%d") + "]}]"), expr0 + ".values", "Too many"},
	"most expressions":          {selector("matchExpressions: [" + list(16, "{key: k%d, operator: Exists}") + "]"), "", ""},
	"too many expressions":      {selector("matchExpressions: [" + list(17, "{key: k%d, operator: Exists}") + "]"), "spec.podSelector.matchExpressions", "Too many"},
	"unknown field in selector": {selector("matchLabel: {a: b}"), "spec.podSelector.matchLabel", "unknown field"},
}

var providerCases = map[string]schemaCase{
	"all":                    {provider("dialect: OpenAI, baseURL: https://x.example.com, mode: Observe, credentialKey: a-1"), "", ""},
	"no name":                {"providers: [{dialect: OpenAI}]", p0 + ".name", "Required value"},
	"empty name":             {"providers: [{name: \"\"}]", p0 + ".name", ""},
	"name in capitals":       {"providers: [{name: OpenAI}]", p0 + ".name", "should match"},
	"name with a slash":      {"providers: [{name: a/b}]", p0 + ".name", "should match"},
	"name ends in a dash":    {"providers: [{name: a-}]", p0 + ".name", "should match"},
	"name begins with digit": {"providers: [{name: 1a, baseURL: https://x.example.com}]", "", ""},
	"longest name":           {"providers: [{name: " + x(40) + ", baseURL: https://x.example.com}]", "", ""},
	"name too long":          {"providers: [{name: " + x(41) + "}]", p0 + ".name", "may not be more than 40"},
	"unknown dialect":        {provider("dialect: Klingon"), p0 + ".dialect", `"OpenAI", "AzureOpenAI", "Anthropic"`},
	"unknown mode":           {provider("mode: Watch"), p0 + ".mode", "Unsupported value"},
	"baseURL too short":      {provider("baseURL: http://"), p0 + ".baseURL", "at least 8"},
	"baseURL too long":       {provider("baseURL: https://x.example.com/" + x(2048)), p0 + ".baseURL", "may not be more than 2048"},
	"empty baseURL":          {provider("baseURL: \"\""), p0 + ".baseURL", "at least 8"},
	"key in capitals":        {provider("credentialKey: A"), p0 + ".credentialKey", "should match"},
	"key with a dot":         {provider("credentialKey: a.hosts"), p0 + ".credentialKey", "should match"},
	"longest key":            {provider("credentialKey: " + x(63)), "", ""},
	"key too long":           {provider("credentialKey: " + x(64)), p0 + ".credentialKey", "may not be more than 63"},
	"deadline":               {provider("deadline: {default: 1m30s, onExceeded: Decline}"), "", ""},
	"empty deadline":         {provider("deadline: {}"), "", ""},
	"unknown onExceeded":     {provider("deadline: {onExceeded: Wait}"), p0 + ".deadline.onExceeded", "Decline"},
	"throttle":               {provider("throttle: {honourCeiling: 0s, onCeilingExceeded: Decline, jitterPercent: 0, maxAttempts: 1}"), "", ""},
	"unknown ceiling action": {provider("throttle: {onCeilingExceeded: Sleep}"), p0 + ".throttle.onCeilingExceeded", "Decline"},
	"jitter below 0":         {provider("throttle: {jitterPercent: -1}"), p0 + ".throttle.jitterPercent", "greater than or equal to 0"},
	"most jitter":            {provider("throttle: {jitterPercent: 100}"), "", ""},
	"jitter above 100":       {provider("throttle: {jitterPercent: 101}"), p0 + ".throttle.jitterPercent", "less than or equal to 100"},
	"no attempts":            {provider("throttle: {maxAttempts: 0}"), p0 + ".throttle.maxAttempts", "greater than or equal to 1"},
	"too many attempts":      {provider("throttle: {maxAttempts: 11}"), p0 + ".throttle.maxAttempts", "less than or equal to 10"},
	"unguided":               {provider("unguided: {base: 1s, cap: 1s, jitter: Equal}"), "", ""},
	"unguided base over cap": {provider("unguided: {base: 1001ms, cap: 1s}"), p0 + ".unguided", backoffRule},
	"unknown jitter":         {provider("unguided: {jitter: None}"), p0 + ".unguided.jitter", "Unsupported value"},
	"overload":               {provider("overload: {base: 1ms, cap: 1h, maxAttempts: 10}"), "", ""},
	"overload base over cap": {provider("overload: {base: 1h, cap: 59m59s}"), p0 + ".overload", backoffRule},
	"overload attempts":      {provider("overload: {maxAttempts: 11}"), p0 + ".overload.maxAttempts", "less than or equal to 10"},
	"overload no attempts":   {provider("overload: {maxAttempts: 0}"), p0 + ".overload.maxAttempts", "greater than or equal to 1"},
}

var durationCases = map[string]schemaCase{
	"hours":            {provider("deadline: {default: 1h}"), "", ""},
	"all units":        {provider("deadline: {default: 1h2m3s4ms}"), "", ""},
	"many seconds":     {provider("deadline: {default: 90s}"), "", ""},
	"longest":          {provider("deadline: {default: 99999h99999m99s}"), "", ""},
	"too long":         {provider("deadline: {default: 99999h99999m999s1ms}"), p0 + ".deadline.default", "may not be more than 16"},
	"no unit":          {provider("deadline: {default: \"60\"}"), p0 + ".deadline.default", "should match"},
	"a number":         {provider("deadline: {default: 60}"), p0 + ".deadline.default", "must be of type string"},
	"a fraction":       {provider("deadline: {default: 1.5s}"), p0 + ".deadline.default", "should match"},
	"negative":         {provider("deadline: {default: -1s}"), p0 + ".deadline.default", "should match"},
	"wrong order":      {provider("deadline: {default: 1s1m}"), p0 + ".deadline.default", "should match"},
	"days":             {provider("deadline: {default: 1d}"), p0 + ".deadline.default", "should match"},
	"microseconds":     {provider("deadline: {default: 10us}"), p0 + ".deadline.default", "should match"},
	"one character":    {provider("deadline: {default: s}"), p0 + ".deadline.default", "at least 2"},
	"empty":            {provider("deadline: {default: \"\"}"), p0 + ".deadline.default", ""},
	"units alone":      {provider("deadline: {default: ms}"), p0 + ".deadline.default", "should match"},
	"ceiling":          {provider("throttle: {honourCeiling: 1x}"), p0 + ".throttle.honourCeiling", "should match"},
	"unguided base":    {provider("unguided: {base: 1x}"), p0 + ".unguided.base", "should match"},
	"unguided cap":     {provider("unguided: {cap: 1x}"), p0 + ".unguided.cap", "should match"},
	"overload base":    {provider("overload: {base: 1x}"), p0 + ".overload.base", "should match"},
	"overload cap":     {provider("overload: {cap: 1x}"), p0 + ".overload.cap", "should match"},
	"lane's wait":      {lane("queue: {maxWait: 1x}"), lane0 + ".queue.maxWait", "should match"},
	"a trailing break": {provider("deadline: {default: \"1s\\n\"}"), p0 + ".deadline.default", "should match"},
}

var limitCases = map[string]schemaCase{
	"Requests":              {limit(perMinute + "4k"), "", ""},
	"InputTokens":           {limit("budget: InputTokens, amount: 400k, per: Day, burst: 1M, models: [a-*, b]"), "", ""},
	"InFlight":              {limit("budget: InFlight, amount: 64"), "", ""},
	"unquoted number":       {limit(perMinute + "400000"), "", ""},
	"0":                     {limit(perMinute + "0"), "", ""},
	"0 in quotes":           {limit(perMinute + "\"0\""), "", ""},
	"most":                  {limit(perMinute + "1T"), "", ""},
	"most as a number":      {limit(perMinute + "1000000000000"), "", ""},
	"above the most":        {limit(perMinute + "1001G"), l0 + ".amount", wholeFrom0},
	"number above the most": {limit(perMinute + "1000000000001"), l0 + ".amount", wholeFrom0},
	"negative":              {limit(perMinute + "\"-1\""), l0 + ".amount", wholeFrom0},
	"negative number":       {limit(perMinute + "-1"), l0 + ".amount", wholeFrom0},
	"thousandths":           {limit(perMinute + "500m"), l0 + ".amount", wholeFrom0},
	"whole thousandths":     {limit(perMinute + "5000m"), l0 + ".amount", wholeFrom0},
	"a fraction of k":       {limit(perMinute + "1.5k"), "", ""},
	"a fraction":            {limit(perMinute + "\"1.5\""), l0 + ".amount", wholeFrom0},
	"an unquoted fraction":  {limit(perMinute + "1.5"), l0 + ".amount", ""},
	"binary":                {limit(perMinute + "1Ki"), "", ""},
	"an exponent":           {limit(perMinute + "\"1e3\""), "", ""},
	"words":                 {limit(perMinute + "many"), l0 + ".amount", ""},
	"a space":               {limit(perMinute + "\"4 k\""), l0 + ".amount", ""},
	"a boolean":             {limit(perMinute + "true"), l0 + ".amount", ""},
	"empty amount":          {limit(perMinute + "\"\""), l0 + ".amount", ""},
	"too many digits":       {limit(perMinute + "\"000000000000000000001\""), l0 + ".amount", "may not be more than 20"},
	"no amount":             {limit("budget: Requests, per: Minute"), l0 + ".amount", "Required value"},
	"null amount":           {limit(perMinute + "null"), l0 + ".amount", ""},
	"no budget":             {limit("amount: 1, per: Minute"), l0 + ".budget", "Required value"},
	"unknown budget":        {limit("budget: Words, amount: 1, per: Minute"), l0 + ".budget", `"Requests"`},
	"no name":               {provider("limits: [{" + perMinute + "1}]"), l0 + ".name", "Required value"},
	"name begins with 1":    {provider("limits: [{name: 1a, " + perMinute + "1}]"), l0 + ".name", "should match"},
	"name too long":         {provider("limits: [{name: " + x(41) + ", " + perMinute + "1}]"), l0 + ".name", "may not be more than 40"},
	"no window":             {limit("budget: Requests, amount: 1"), l0, perRule},
	"window with InFlight":  {limit("budget: InFlight, amount: 1, per: Minute"), l0, perRule},
	"unknown window":        {limit("budget: Requests, amount: 1, per: Week"), l0 + ".per", `"Second"`},
	"burst with InFlight":   {limit("budget: InFlight, amount: 1, burst: 1"), l0, "burst is forbidden with budget InFlight"},
	"burst of 0":            {limit(perMinute + "1, burst: 0"), "", ""},
	"negative burst":        {limit(perMinute + "1, burst: -1"), l0 + ".burst", wholeFrom0},
	"burst above the most":  {limit(perMinute + "1, burst: 2T"), l0 + ".burst", wholeFrom0},
	"empty model":           {limit(perMinute + "1, models: [\"\"]"), l0 + ".models[0]", "at least 1"},
	"model too long":        {limit(perMinute + "1, models: [" + x(129) + "]"), l0 + ".models[0]", "may not be more than 128"},
	"repeated model":        {limit(perMinute + "1, models: [a, a]"), l0 + ".models[1]", "Duplicate value"},
	"most models":           {limit(perMinute + "1, models: [" + list(16, "m%d") + "]"), "", ""},
	"too many models":       {limit(perMinute + "1, models: [" + list(17, "m%d") + "]"), l0 + ".models", "Too many"},
	"most limits":           {provider("limits: [" + list(16, "{name: l%d, "+perMinute+"1}") + "]"), "", ""},
	"too many limits":       {provider("limits: [" + list(17, "{name: l%d, "+perMinute+"1}") + "]"), p0 + ".limits", "Too many"},
	"repeated limit":        {provider("limits: [" + list(2, "{name: a, budget: Requests, per: Minute, amount: %d}") + "]"), p0 + ".limits[1]", "Duplicate value"},
}

var laneCases = map[string]schemaCase{
	"all":               {lane("match: {minInputTokens: 20k}, largestCall: 60k, reservedPercent: 40, queue: {maxDepth: 32, maxWait: 50s}"), "", ""},
	"empty parts":       {lane("match: {}, queue: {}"), "", ""},
	"smallest call 0":   {lane("match: {minInputTokens: 0}"), "", ""},
	"smallest negative": {lane("match: {minInputTokens: -1}"), lane0 + ".match.minInputTokens", wholeFrom0},
	"largest call 1":    {lane("largestCall: 1"), "", ""},
	"largest call 0":    {lane("largestCall: 0"), lane0 + ".largestCall", wholeFrom1},
	"largest 0, quoted": {lane("largestCall: \"0\""), lane0 + ".largestCall", wholeFrom1},
	"largest too large": {lane("largestCall: 2T"), lane0 + ".largestCall", wholeFrom1},
	"share below 0":     {lane("reservedPercent: -1"), lane0 + ".reservedPercent", "greater than or equal to 0"},
	"share above 100":   {lane("reservedPercent: 101"), lane0 + ".reservedPercent", "less than or equal to 100"},
	"no name":           {provider("lanes: [{reservedPercent: 1}]"), lane0 + ".name", "Required value"},
	"name begins 1":     {provider("lanes: [{name: 1a}]"), lane0 + ".name", "should match"},
	"name too long":     {provider("lanes: [{name: " + x(41) + "}]"), lane0 + ".name", "may not be more than 40"},
	"depth 0":           {lane("queue: {maxDepth: 0, maxWait: 0s}"), "", ""},
	"depth below 0":     {lane("queue: {maxDepth: -1}"), lane0 + ".queue.maxDepth", "greater than or equal to 0"},
	"deepest":           {lane("queue: {maxDepth: 10000}"), "", ""},
	"pings":             {lane("queue: {keepAlive: Pings}"), "", ""},
	"no pings":          {lane("queue: {keepAlive: None}"), "", ""},
	"pings as a bool":   {lane("queue: {keepAlive: true}"), lane0 + ".queue.keepAlive", "must be of type string"},
	"pings, misspelt":   {lane("queue: {keepAlive: pings}"), lane0 + ".queue.keepAlive", "\"None\", \"Pings\""},
	"too deep":          {lane("queue: {maxDepth: 10001}"), lane0 + ".queue.maxDepth", "less than or equal to 10000"},
	"shares of 100":     {provider("lanes: [{name: a, reservedPercent: 50}, {name: b, reservedPercent: 50}, {name: c}]"), "", ""},
	"shares above 100":  {provider("lanes: [{name: a, reservedPercent: 50}, {name: b, reservedPercent: 51}, {name: c}]"), p0 + ".lanes", hundredRule},
	"no shares":         {provider("lanes: [{name: a, match: {minInputTokens: 2}}, {name: b}]"), "", ""},
	"empty list":        {provider("lanes: []"), "", ""},
	"most lanes":        {provider("lanes: [" + list(8, "{name: l%d}") + "]"), "", ""},
	"too many lanes":    {provider("lanes: [" + list(9, "{name: l%d}") + "]"), p0 + ".lanes", "Too many"},
	"repeated lane":     {provider("lanes: [{name: a}, {name: a}]"), p0 + ".lanes[1]", "Duplicate value"},
	"default lane":      {provider("lanes: [{name: default, reservedPercent: 10}]"), "", ""},
}
