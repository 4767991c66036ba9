package toyworld

import (
	"hash/fnv"
	"slices"
)

// ToyTree is a toy tree: its files as "name=content;", sorted by name. A content that ends with a
// minus is red.
type ToyTree string

// Hash is the same for equal trees.
func (t ToyTree) Hash() uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(t))
	return h.Sum64() >> 7
}

// IsGreen is the truth about a tree that gates find out: nothing in it is red, and the parts fit
// together, which is up to chance for more than one part.
func (t ToyTree) IsGreen() bool {
	for f := range t.EachFile() {
		if f.Content[len(f.Content)-1] == '-' {
			return false
		}
	}
	return t == "" || t.Hash()%8 != 0
}

// FailingGate returns the gate that a red tree fails.
func (t ToyTree) FailingGate() string {
	if t.Hash()%2 == 0 {
		return "build"
	}
	return "test"
}

// ToyFile is a file of a tree.
type ToyFile struct{ Name, Content string }

// EachFile returns the files by name.
func (t ToyTree) EachFile() func(func(ToyFile) bool) {
	return func(yield func(ToyFile) bool) {
		start, name := 0, ""
		for i := range len(t) {
			switch t[i] {
			case '=':
				name, start = string(t[start:i]), i+1
			case ';':
				if !yield(ToyFile{name, string(t[start:i])}) {
					return
				}
				start = i + 1
			}
		}
	}
}

// ContentOf returns a file's content, "" if there is none.
func (t ToyTree) ContentOf(name string) string {
	for f := range t.EachFile() {
		if f.Name == name {
			return f.Content
		}
	}
	return ""
}

// WithFile returns the tree with a file of that content.
func (t ToyTree) WithFile(name, content string) ToyTree {
	all := []ToyFile{{name, content}}
	for f := range t.EachFile() {
		if f.Name != name {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b ToyFile) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	var b []byte
	for _, f := range all {
		b = append(append(append(append(b, f.Name...), '='), f.Content...), ';')
	}
	return ToyTree(b)
}

// MergeToyTrees applies the changes from base to theirs to ours. If both changed a file there is a
// conflict, and the merged tree is red there.
func MergeToyTrees(base, ours, theirs ToyTree) (merged ToyTree, conflicts []string) {
	merged = ours
	for f := range theirs.EachFile() {
		switch was, is := base.ContentOf(f.Name), ours.ContentOf(f.Name); {
		case f.Content == was, f.Content == is:
		case is == was:
			merged = merged.WithFile(f.Name, f.Content)
		default:
			conflicts = append(conflicts, f.Name)
			merged = merged.WithFile(f.Name, is+"|"+f.Content+"-")
		}
	}
	return merged, conflicts
}

// IsBroken is the truth about a task's criterion, which its check finds out. It is up to chance,
// and again with each change of the tree.
func (t ToyTree) IsBroken(task string) bool {
	return t != "" && (t+ToyTree(task)).Hash()%6 == 0
}
