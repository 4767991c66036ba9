package suite

import (
	"path"
	"regexp"
	"strings"
)

// What follows turns the names of tests, as the readers here call them, into what a
// runner is given to run one of them alone. It is not ok where a name could mean
// something else.

// WordPytest is a path of pytest, as it is.
func WordPytest(test string) (word, file string, ok bool) {
	return test, "", strings.Contains(test, "::")
}

// WordUnittest is a dotted path, without a subtest after it.
func WordUnittest(test string) (word, file string, ok bool) {
	test, _, _ = strings.Cut(test, " ")
	dotted := regexp.MustCompile(`^[\pL_][\pL\pN_]*(?:\.[\pL_][\pL\pN_]*)+$`)
	return test, "", dotted.MatchString(test) && !strings.HasPrefix(test, "unittest.")
}

// WordNextest is an expression of nextest.
func WordNextest(test string) (word, file string, ok bool) {
	m := regexp.MustCompile(`^([\pL\pN_:./-]+) ([\pL_][\pL\pN_:]*)$`).FindStringSubmatch(test)
	if m == nil {
		return "", "", false
	}
	return "binary_id(=" + m[1] + ") and test(=" + m[2] + ")", "", true
}

// WordMember is a method of a class with a mark before it, of what has cases all of
// them.
func WordMember(mark string) func(test string) (word, file string, ok bool) {
	return func(test string) (word, file string, ok bool) {
		m := regexp.MustCompile(`^((?:[\pL_][\pL\pN_$]*\.)+)([\pL_][\pL\pN_]*)(?:[({\[].*)?$`).FindStringSubmatch(test)
		if m == nil {
			return "", "", false
		}
		return strings.TrimSuffix(m[1], ".") + mark + m[2], "", true
	}
}

// WordPHPUnit is a pattern with slashes around it, for all cases of a method.
func WordPHPUnit(test string) (word, file string, ok bool) {
	test, _, _ = strings.Cut(test, " with data set ")
	test, _, _ = strings.Cut(test, "#")
	q := strings.ReplaceAll(regexp.QuoteMeta(test), "/", `\/`)
	return "/^" + q + "(?:[ #@].*)?$/", "", strings.Contains(test, "::")
}

// WordTitles is a pattern over all titles.
func WordTitles(test string) (word, file string, ok bool) {
	return "^" + joinTitles(titles(test)) + "$", "", true
}

// WordInFile is a file and a pattern over the titles in it.
func WordInFile(test string) (word, file string, ok bool) {
	all := titles(test)
	if len(all) < 2 || path.Ext(all[0]) == "" {
		return "", "", false
	}
	return "^ ?" + joinTitles(all[1:]) + "$", all[0], true
}

// WordLast is a pattern over the last title, with or without the others.
func WordLast(test string) (word, file string, ok bool) {
	all := titles(test)
	last := len(all) - 1
	if last == 0 {
		return "^" + regexp.QuoteMeta(test) + "$", "", true
	}
	return "^(?:" + joinTitles(all[:last]) + " )?" + regexp.QuoteMeta(all[last]) + "$", "", true
}

// WordPlaywright is a pattern over a file and all titles.
func WordPlaywright(test string) (word, file string, ok bool) {
	all := titles(test)
	return "(?:^| )" + joinTitles(all) + "$", "", len(all) > 1
}

func titles(test string) []string { return strings.Split(test, " > ") }

// joinTitles is a pattern of titles with spaces between, as runners of JavaScript
// see them; one title may have the mark in it.
func joinTitles(titles []string) string {
	q := make([]string, len(titles))
	for i, t := range titles {
		q[i] = regexp.QuoteMeta(t)
	}
	return strings.Join(q, " (?:> )?")
}
