# Copyright The Headgate Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Prints the tests that draw at random: those that call rapid or ask package seed, or a function of their package that does.

/^func / {
  name = $0
  sub(/^func (\([^)]*\) )?/, "", name)
  sub(/[^A-Za-z0-9_].*/, "", name)
}
{ body[name] = body[name] "\n" $0 }
/rapid\.(Check|MakeCheck)\(|seed\.(First|Times)\(/ { random[name] = 1 }

END {
  for (more = 1; more;) {
    more = 0
    for (f in body) {
      if (f in random) continue
      for (g in random) {
        if (g !~ /^Test/ && body[f] ~ ("[^.A-Za-z0-9_]" g "\\(")) { random[f] = 1; more = 1; break }
      }
    }
  }
  for (f in random) if (f ~ /^Test[^a-z]/ && f != "TestMain") print f
}
