package testrunners

import (
	"path"
	"regexp"
	"strings"
)

// The functions below convert the names of tests, as the readers in this package return them,
// to the argument that makes a runner run only that test. They return false if a name is
// ambiguous.

// PytestTestArgument returns a path of pytest, unchanged.
func PytestTestArgument(test string) (word, file string, ok bool) {
	return test, "", strings.Contains(test, "::")
}

// UnittestTestArgument returns a dotted path, without a subtest after it.
func UnittestTestArgument(test string) (word, file string, ok bool) {
	test, _, _ = strings.Cut(test, " ")
	dotted := regexp.MustCompile(`^[\pL_][\pL\pN_]*(?:\.[\pL_][\pL\pN_]*)+$`)
	return test, "", dotted.MatchString(test) && !strings.HasPrefix(test, "unittest.")
}

// NextestTestArgument returns an expression of nextest.
func NextestTestArgument(test string) (word, file string, ok bool) {
	m := regexp.MustCompile(`^([\pL\pN_:./-]+) ([\pL_][\pL\pN_:]*)$`).FindStringSubmatch(test)
	if m == nil {
		return "", "", false
	}
	return "binary_id(=" + m[1] + ") and test(=" + m[2] + ")", "", true
}

// MemberTestArgument returns a method of a class with a mark before it; of a test with cases, all of
// them.
func MemberTestArgument(mark string) func(test string) (word, file string, ok bool) {
	return func(test string) (word, file string, ok bool) {
		m := regexp.MustCompile(`^((?:[\pL_][\pL\pN_$]*\.)+)([\pL_][\pL\pN_]*)(?:[({\[].*)?$`).FindStringSubmatch(test)
		if m == nil {
			return "", "", false
		}
		return strings.TrimSuffix(m[1], ".") + mark + m[2], "", true
	}
}

// PHPUnitTestArgument returns a pattern with slashes around it, for all cases of a method.
func PHPUnitTestArgument(test string) (word, file string, ok bool) {
	test, _, _ = strings.Cut(test, " with data set ")
	test, _, _ = strings.Cut(test, "#")
	q := strings.ReplaceAll(regexp.QuoteMeta(test), "/", `\/`)
	return "/^" + q + "(?:[ #@].*)?$/", "", strings.Contains(test, "::")
}

// FullTitlePattern returns a pattern over all titles.
func FullTitlePattern(test string) (word, file string, ok bool) {
	return "^" + joinTitles(splitTitles(test)) + "$", "", true
}

// FileAndTitleArgument returns a file and a pattern over the titles in it.
func FileAndTitleArgument(test string) (word, file string, ok bool) {
	all := splitTitles(test)
	if len(all) < 2 || path.Ext(all[0]) == "" {
		return "", "", false
	}
	return "^ ?" + joinTitles(all[1:]) + "$", all[0], true
}

// LastTitleArgument returns a pattern over the last title, with or without the others.
func LastTitleArgument(test string) (word, file string, ok bool) {
	all := splitTitles(test)
	last := len(all) - 1
	if last == 0 {
		return "^" + regexp.QuoteMeta(test) + "$", "", true
	}
	return "^(?:" + joinTitles(all[:last]) + " )?" + regexp.QuoteMeta(all[last]) + "$", "", true
}

// PlaywrightTestArgument returns a pattern over a file and all titles.
func PlaywrightTestArgument(test string) (word, file string, ok bool) {
	all := splitTitles(test)
	return "(?:^| )" + joinTitles(all) + "$", "", len(all) > 1
}

func splitTitles(test string) []string { return strings.Split(test, " > ") }

// joinTitles returns a pattern of titles with spaces between, as JavaScript runners join them;
// one title may contain the mark.
func joinTitles(titles []string) string {
	q := make([]string, len(titles))
	for i, t := range titles {
		q[i] = regexp.QuoteMeta(t)
	}
	return strings.Join(q, " (?:> )?")
}
