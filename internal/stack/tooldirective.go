package stack

import "regexp"

// obeyed matches the beginning of a comment that a tool interprets.
var obeyed = regexp.MustCompile(`^(?:#!|//go:|//export |//line |// ?\+build|#\s*(?:type:|noqa|pragma|pylint|mypy|pyright|ruff|fmt:|isort|cython|` +
	`frozen_string_literal|rubocop|shellcheck|-\*-)|(?://|/\*)\s*(?:eslint|@ts-|prettier|istanbul|c8 |v8 |@jsx|@flow|nolint|lint:|NOLINT|` +
	`clang-format|webpack|global[s ]|jshint|biome-|(?:Unordered )?[Oo]utput:)|//nolint|` +
	`#\s*(?:if|ifn?def|else|elif|endif|include|define|undef|error|pragma)\b|#\[|#!\[)`)

// IsToolDirective reports whether a comment, with its mark, is one that a tool interprets: then
// it is code and not text for people.
func IsToolDirective(comment string) bool { return obeyed.MatchString(comment) }
