package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// TestCommentQuotesTitles so that a title is read as nothing but text, in its own cell.
func TestCommentQuotesTitles(t *testing.T) {
	for title, want := range map[string]string{
		"Tell @all of #7":         "`Tell @all of #7`",
		`\[x\](https://evil)`:     "`\\[x\\](https://evil)`",
		`x \| landed`:             "`x \\ \\| landed`",
		`x \\| landed`:            "`x \\\\ \\| landed`",
		"a | b":                   "`a \\| b`",
		"a``b` @all":              "`a''b' @all`",
		"one\ntwo\r\n/close":      "`one two  /close`",
		"":                        "`-`",
		"ends with \\":            "`ends with \\`",
		strings.Repeat("x", 1000): "`" + strings.Repeat("x", 190),
	} {
		text := view.IssueComment(view.RunView{Tasks: []view.TaskView{{ID: "T1", Title: title, Status: nexus.Running}}})
		if !strings.Contains(text, "\n| T1 "+want) || strings.Count(text, "\n") != 7 || len(text) > 500 {
			t.Errorf("%q is not %s in\n%s", title, want, text)
		}
	}
	text := view.IssueComment(view.RunView{Commit: "abc", Branch: "a`@all"})
	if !strings.Contains(text, "on the branch `a'@all`") {
		t.Error(text)
	}
}

// TestCommentIsBounded by what a forge takes.
func TestCommentIsBounded(t *testing.T) {
	many := func(n int, title string) []view.TaskView {
		all := make([]view.TaskView, n)
		for i := range all {
			all[i] = view.TaskView{ID: nexus.TaskID(fmt.Sprint("T", i+1)), Title: title}
		}
		return all
	}
	text := view.IssueComment(view.RunView{Tasks: many(250, "a")})
	if strings.Count(text, "\n| T") != 100 || !strings.Contains(text, "| T100 ") || !strings.Contains(text, "\nand 150 more\n") {
		t.Error(text)
	}
	if text := view.IssueComment(view.RunView{Tasks: many(100, strings.Repeat("|", 500))}); len(text) >= 60_000 {
		t.Error(len(text))
	}
	if text := view.IssueComment(view.RunView{Tasks: many(100, "a")}); strings.Contains(text, " more\n") {
		t.Error(text)
	}
}
