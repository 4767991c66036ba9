package toy

import (
	"hash/fnv"
	"slices"
)

// Tree is a toy tree: its files as "name=content;", sorted by name. A content that ends with a
// minus is red.
type Tree string

// Hash is the same for equal trees.
func (t Tree) Hash() uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(t))
	return h.Sum64() >> 7
}

// Green is the truth about a tree that gates find out: nothing in it is red, and the parts fit
// together, which is up to chance for more than one part.
func (t Tree) Green() bool {
	for f := range t.Files() {
		if f.Content[len(f.Content)-1] == '-' {
			return false
		}
	}
	return t == "" || t.Hash()%8 != 0
}

// Culprit returns the gate that a red tree fails.
func (t Tree) Culprit() string {
	if t.Hash()%2 == 0 {
		return "build"
	}
	return "test"
}

// File is a file of a tree.
type File struct{ Name, Content string }

// Files returns the files by name.
func (t Tree) Files() func(func(File) bool) {
	return func(yield func(File) bool) {
		start, name := 0, ""
		for i := range len(t) {
			switch t[i] {
			case '=':
				name, start = string(t[start:i]), i+1
			case ';':
				if !yield(File{name, string(t[start:i])}) {
					return
				}
				start = i + 1
			}
		}
	}
}

// Of returns a file's content, "" if there is none.
func (t Tree) Of(name string) string {
	for f := range t.Files() {
		if f.Name == name {
			return f.Content
		}
	}
	return ""
}

// With returns the tree with a file of that content.
func (t Tree) With(name, content string) Tree {
	all := []File{{name, content}}
	for f := range t.Files() {
		if f.Name != name {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b File) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	var b []byte
	for _, f := range all {
		b = append(append(append(append(b, f.Name...), '='), f.Content...), ';')
	}
	return Tree(b)
}

// Merge applies the changes from base to theirs to ours. If both changed a file there is a
// conflict, and the merged tree is red there.
func Merge(base, ours, theirs Tree) (merged Tree, conflicts []string) {
	merged = ours
	for f := range theirs.Files() {
		switch was, is := base.Of(f.Name), ours.Of(f.Name); {
		case f.Content == was, f.Content == is:
		case is == was:
			merged = merged.With(f.Name, f.Content)
		default:
			conflicts = append(conflicts, f.Name)
			merged = merged.With(f.Name, is+"|"+f.Content+"-")
		}
	}
	return merged, conflicts
}

// Broken is the truth about a task's criterion, which its check finds out. It is up to chance,
// and again with each change of the tree.
func (t Tree) Broken(task string) bool {
	return t != "" && (t+Tree(task)).Hash()%6 == 0
}
