// Package numberedfiles finds files with the same place in a sequence: migrations, decision
// records and similar files with consecutive numbers. Two parallel tasks both use the next
// number, git merges the two files without a conflict, and the reader of the sequence fails.
package numberedfiles

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// SequenceFile is a file of a tree.
type SequenceFile struct {
	Path string
	Text string // of a file for which [NamesPredecessor] is true; empty for any other
}

// SequenceCollision is a file whose place in a sequence is used by another one.
type SequenceCollision struct {
	Path string // the new file
	With string // the existing file
	What string // the shared thing: a number, or the file that both follow
	Next string // a free number
}

// String describes it for people.
func (c SequenceCollision) String() string { return fmt.Sprintf("%s is taken by %s", c.What, c.With) }

// sequencePlace is the place of a file in a sequence.
type sequencePlace struct {
	before, digits, stem string // the text before the number, the number, and the name up to its first dot
	number               int
}

// Patterns at the start of such files' names: V in Flyway, and the number in most others. A
// date is not a number: 2024-05-01, 2024_05_01, 202405. A time with seconds is one.
var (
	flyway  = regexp.MustCompile(`^(V|U)(\d{1,14})__`)
	record  = regexp.MustCompile(`^((?:adr|rfc|ADR|RFC)-)(\d{1,6})[-_]`)
	counted = regexp.MustCompile(`^()(\d{1,6}|\d{14})[-_]`)
	date    = regexp.MustCompile(`^(?:19|20)\d\d(?:[-_](?:0[1-9]|1[0-2])[-_.]|(?:0[1-9]|1[0-2])[-_])`)
)

// Patterns in the texts of migrations.
var (
	downRevision = regexp.MustCompile(`(?m)^down_revision(?:\s*:[^=\n]*)?\s*=\s*["']([\w.-]+)["']\s*(?:#.*)?$`)
	revision     = regexp.MustCompile(`(?m)^revision(?:\s*:[^=\n]*)?\s*=\s*["']([\w.-]+)["']`)
	dependencies = regexp.MustCompile(`(?m)^\s+dependencies\s*=\s*\[([^\]]*)\]`)
	dependency   = regexp.MustCompile(`\(\s*["'](\w+)["']\s*,\s*["'](\w+)["']\s*,?\s*\)`)
)

// sequencePlaceOf returns the place of a file in a sequence, from its name. In directories of
// changelog fragments the numbers are those of issues, and are ignored.
func sequencePlaceOf(file string) (sequencePlace, bool) {
	base := path.Base(file)
	if !strings.ContainsAny(base, "0123456789") {
		return sequencePlace{}, false
	}
	for dir := range strings.SplitSeq(path.Dir(file), "/") {
		switch strings.ToLower(strings.TrimSuffix(dir, ".d")) {
		case "changes", "changelog", "changelogs", "newsfragments", "news", "unreleased":
			return sequencePlace{}, false
		}
	}
	if date.MatchString(base) {
		return sequencePlace{}, false
	}
	for _, kind := range []*regexp.Regexp{flyway, record, counted} {
		m := kind.FindStringSubmatch(base)
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[2])
		stem, _, _ := strings.Cut(base, ".")
		return sequencePlace{m[1], m[2], stem, n}, err == nil
	}
	return sequencePlace{}, false
}

// collidesWith reports whether two places are equal and their files are not parts of one thing, such
// as the two directions of a migration.
func (p sequencePlace) collidesWith(o sequencePlace) bool {
	return p.before == o.before && p.number == o.number && p.stem != o.stem
}

// furthest limits the distance of the next number from the last one of a sequence.
const furthest = 10

// FindCollisions returns the new files whose place is used by a file of the earlier tree. Had are
// the files of that tree in the directories of the new ones.
func FindCollisions(added, had []SequenceFile) []SequenceCollision {
	var all []SequenceCollision
	for _, f := range added {
		c, ok := collisionByNumber(f.Path, had)
		if !ok {
			c, ok = collisionByParent(f, had)
		}
		if ok {
			all = append(all, c)
		}
	}
	return all
}

// collisionByNumber returns the collision of a file with a file of the same number. Files with earlier
// duplicates, or with gaps between the numbers, are not a sequence.
func collisionByNumber(file string, had []SequenceFile) (c SequenceCollision, ok bool) {
	p, numbered := sequencePlaceOf(file)
	if !numbered {
		return c, false
	}
	last, others := 0, 0
	seen := map[int]string{}
	for _, h := range had {
		o, ok := sequencePlaceOf(h.Path)
		if !ok || path.Dir(h.Path) != path.Dir(file) || o.before != p.before || h.Path == file {
			continue
		}
		if stem, twice := seen[o.number]; twice && stem != o.stem {
			return c, false
		}
		seen[o.number] = o.stem
		last, others = max(last, o.number), others+1
		if p.collidesWith(o) {
			c = SequenceCollision{Path: file, With: h.Path, What: "the number " + p.digits}
		}
	}
	if c.With == "" || p.number > last+furthest || others == 0 {
		return c, false
	}
	c.Next = fmt.Sprintf("the number %0*d", len(p.digits), last+1)
	return c, true
}

// NamesPredecessor reports whether the text of a file names its predecessor: a migration of
// Alembic or Django.
func NamesPredecessor(file string) bool {
	dir := path.Base(path.Dir(file))
	return path.Ext(file) == ".py" && (dir == "versions" || dir == "migrations") && path.Base(file) != "__init__.py"
}

// collisionByParent returns the collision of a migration with another one that follows the same
// migration. If that had happened before, it would be merged later.
func collisionByParent(f SequenceFile, had []SequenceFile) (c SequenceCollision, ok bool) {
	parent, kind := predecessorOf(f)
	if parent == "" {
		return c, false
	}
	for _, h := range had {
		if o, k := predecessorOf(h); o == parent && k == kind && h.Path != f.Path && path.Dir(h.Path) == path.Dir(f.Path) {
			return SequenceCollision{Path: f.Path, With: h.Path, What: "the place behind " + parent, Next: "the place behind " + migrationName(h)}, true
		}
	}
	return c, false
}

// predecessorOf returns the single predecessor of a migration, and its kind. Both are empty for
// the first migration, and for one that merges several.
func predecessorOf(f SequenceFile) (parent, kind string) {
	if !NamesPredecessor(f.Path) {
		return "", ""
	}
	if m := downRevision.FindStringSubmatch(f.Text); m != nil {
		return m[1], "alembic"
	}
	list := dependencies.FindStringSubmatch(f.Text)
	if list == nil {
		return "", ""
	}
	app := path.Base(path.Dir(path.Dir(f.Path)))
	var own []string
	for _, m := range dependency.FindAllStringSubmatch(list[1], -1) {
		if m[1] == app {
			own = append(own, m[2])
		}
	}
	if len(own) != 1 {
		return "", ""
	}
	return own[0], "django"
}

// migrationName returns the name by which other migrations refer to this one.
func migrationName(f SequenceFile) string {
	name := ""
	if m := revision.FindStringSubmatch(f.Text); m != nil {
		name = m[1]
	}
	return cmp.Or(name, strings.TrimSuffix(path.Base(f.Path), ".py"))
}

// MayCollide reports whether two tasks that are to write these files use, or may use, the
// same place in a sequence: for migrations that name their predecessor the place is unknown
// before they are written.
func MayCollide(a, b []string) bool {
	for _, f := range a {
		p, numbered := sequencePlaceOf(f)
		if !numbered && !NamesPredecessor(f) {
			continue
		}
		if slices.ContainsFunc(b, func(g string) bool {
			o, ok := sequencePlaceOf(g)
			return g != f && path.Dir(f) == path.Dir(g) && (numbered && ok && p.collidesWith(o) || NamesPredecessor(f) && NamesPredecessor(g))
		}) {
			return true
		}
	}
	return false
}
