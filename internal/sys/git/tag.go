package git

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Tag is an annotated tag.
type Tag struct {
	Name    string
	Commit  string
	Message string
}

// MakeTag creates an annotated tag in the user's repository. An existing tag is never moved: that
// is an error.
func MakeTag(ctx context.Context, r Repo, t Tag, by CommitIdentity, at time.Time) error {
	if err := CheckRef(t.Name); err != nil {
		return invalidInputError(fmt.Sprintf("%q cannot be a tag", t.Name), "Choose another, such as v0.1.0.", err)
	}
	commit, err := r.Resolve(ctx, t.Commit)
	if err != nil {
		return err
	}
	name, mail := by.nameAndEmail()
	text := fmt.Sprintf("object %s\ntype commit\ntag %s\ntagger %s <%s> %d +0000\n\n%s\n",
		commit, t.Name, cleanTagName(name), cleanTagName(mail), at.Unix(), strings.TrimSpace(t.Message))
	object, err := r.RunWithInput(ctx, strings.NewReader(text), "mktag")
	if err != nil {
		return err
	}
	ref := "refs/tags/" + t.Name
	_, failed := r.Run(ctx, "update-ref", "--no-deref", "--end-of-options", ref, strings.TrimSpace(object), strings.Repeat("0", len(commit)))
	if failed == nil {
		return nil
	}
	if _, there, err := ReadTag(ctx, r, t.Name); err == nil && there {
		return invalidInputError("there is a tag "+t.Name+" already", "Choose another; a tag that is there is not moved.", nil)
	}
	return failed
}

// cleanTagName removes the characters that would end a name in a tag.
func cleanTagName(name string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if c == '<' || c == '>' || c == '\n' || c == 0 {
			return -1
		}
		return c
	}, name))
}

// ReadTag returns a tag, and whether it exists. A tag that is not annotated has no message.
func ReadTag(ctx context.Context, r Repo, name string) (Tag, bool, error) {
	t := Tag{Name: name}
	if refNameReason(name) != "" {
		return t, false, nil
	}
	ref := "refs/tags/" + name
	out, err := r.Run(ctx, "for-each-ref", "--format=%(refname)%00%(objecttype)%00%(contents)", ref)
	if err != nil {
		return t, false, err
	}
	out, there := strings.CutPrefix(out, ref+"\x00")
	if !there {
		return t, false, nil
	}
	if t.Commit, err = r.Resolve(ctx, ref); err != nil {
		return t, false, err
	}
	kind, message, _ := strings.Cut(out, "\x00")
	if kind == "tag" {
		t.Message = strings.TrimSpace(message)
	}
	return t, true, nil
}
