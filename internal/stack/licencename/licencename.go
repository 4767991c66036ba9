// Package licencename finds the licence that a name or a text refers to.
package licencename

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
)

//go:embed names.txt
var names string

// maxName limits the length of the name of a licence; a longer text is the licence itself.
const maxName = 200

// ExpressionFor returns the SPDX expression for a licence's name or text. An unknown name is
// returned unchanged, in one line; a name without a meaning becomes "".
func ExpressionFor(said string) string {
	said = strings.TrimSpace(said)
	if strings.Contains(said, "\n") || len(said) > maxName {
		return LicenceOfText(said)
	}
	said = strings.Join(strings.Fields(said), " ")
	if said == "" || isUninformative(said) {
		return ""
	}
	if known := KnownName(said); known != "" {
		return known
	}
	words := strings.NewReplacer("(", " ( ", ")", " ) ", "/", " OR ", " or ", " OR ", " and ", " AND ", " with ", " WITH ").Replace(said)
	if m := regexp.MustCompile(`(?i)^(?:[\w.+-]+|\(|\)|\s)+$`).FindString(words); m != "" && strings.ContainsAny(words, " ") {
		parts := strings.Fields(words)
		whole := true
		for i, p := range parts {
			if slices.Contains([]string{"(", ")", "OR", "AND", "WITH"}, p) {
				continue
			}
			if i > 0 && !slices.Contains([]string{"(", "OR", "AND", "WITH"}, parts[i-1]) {
				whole = false // a name in several words
			}
			if known := KnownName(p); known != "" {
				parts[i] = known
			}
		}
		if whole {
			return strings.NewReplacer("( ", "(", " )", ")").Replace(strings.Join(parts, " "))
		}
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, said)
}

// isUninformative reports whether a name only states that there is a licence, or none, and not which.
func isUninformative(said string) bool {
	return strings.HasPrefix(strings.ToUpper(said), "SEE LICENSE") || slices.Contains([]string{
		"unknown", "none", "noassertion", "license", "custom", "dual license", "other/proprietary license",
	}, strings.ToLower(said))
}

// KnownName returns the SPDX name for a name, "" if the table does not contain it.
func KnownName(said string) string {
	want := normalizedLicenceName(said)
	for line := range strings.Lines(names) {
		line = strings.TrimSpace(line)
		spdx, others, _ := strings.Cut(line, " | ")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if normalizedLicenceName(spdx) == want {
			return spdx
		}
		for other := range strings.SplitSeq(others, " | ") {
			if other != "" && normalizedLicenceName(other) == want {
				return spdx
			}
		}
	}
	return ""
}

// normalizedLicenceName removes the parts of a name that people write in different ways.
func normalizedLicenceName(name string) string {
	name = strings.ToLower(name)
	name = strings.TrimPrefix(name, "the ")
	name = strings.NewReplacer(
		"licence", "license", "version", " ", " v", " ", ",", " ", "\"", " ", "'", " ", "(", " ", ")", " ", "-", " ", "_", " ",
	).Replace(name)
	return strings.TrimSuffix(strings.Join(strings.Fields(name), " "), " license")
}

// LicenceOfText returns the SPDX name of a licence by its text, "" if it is unknown.
func LicenceOfText(text string) string {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	has := func(parts ...string) bool {
		for _, p := range parts {
			if !strings.Contains(text, p) {
				return false
			}
		}
		return true
	}
	binary := has("redistribution and use in source and binary forms")
	for _, l := range []struct {
		name string
		is   bool
	}{
		{"AGPL-3.0", has("gnu affero general public license", "version 3")},
		{"LGPL-3.0", has("gnu lesser general public license", "version 3")},
		{"LGPL-2.1", has("gnu lesser general public license", "version 2.1")},
		{"MPL-2.0", has("mozilla public license", "version 2.0")},
		{"GPL-3.0", has("gnu general public license", "version 3")},
		{"GPL-2.0", has("gnu general public license", "version 2")},
		{"EPL-2.0", has("eclipse public license", "2.0")},
		{"Apache-2.0", has("apache license", "version 2.0")},
		{"BSD-3-Clause", binary && (has("neither the name") || has("may be used to endorse or promote"))},
		{"BSD-2-Clause", binary},
		{"0BSD", has("permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted.") && !has("provided that")},
		{"ISC", has("permission to use, copy, modify, and") && has("distribute this software for any purpose with or without fee", "provided that")},
		{"MIT", has("permission is hereby granted, free of charge, to any person obtaining a copy", "substantial portions of the software")},
		{"Unlicense", has("this is free and unencumbered software released into the public domain")},
		{"CC0-1.0", has("cc0 1.0 universal")},
		{"Zlib", has("the origin of this software must not be misrepresented", "altered source versions must be plainly marked")},
	} {
		if l.is {
			return l.name
		}
	}
	return ""
}

// JoinExpression joins names to an expression, with a word between them, and skips names without a
// meaning.
func JoinExpression(said []string, with string) string {
	var all []string
	for _, s := range said {
		if name := ExpressionFor(s); name != "" {
			all = append(all, name)
		}
	}
	return strings.Join(all, with)
}
