package reviewcmd_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/reviewcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

func command(c *console.Console) *cobra.Command { return reviewcmd.New(c, nil) }

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, reviewcmd.New, map[string]*reviewcmd.Options{
		"":                                      {Format: "text"},
		"HEAD~1..HEAD --persona tests,security": {Args: []string{"HEAD~1..HEAD"}, Personas: []string{"tests", "security"}, Format: "text"},
		"--base main --json":                    {Scope: checkcmd.ReviewScope{Base: "main"}, Format: "json"},
		"--staged --format sarif":               {Scope: checkcmd.ReviewScope{Staged: true}, Format: "sarif"},
		"T1 --approve --resolve c1 --run abc":   {Args: []string{"T1"}, AboutTask: true, Approve: true, Resolve: []string{"c1"}, Run: "abc", Format: "text"},
		"T1 wrong --comment a.go:3 --kind must --draft": {
			Args: []string{"T1", "wrong"}, AboutTask: true, Comment: "a.go:3", Kind: "must", Draft: true, Format: "text",
		},
		"T1 --send --all":            {Args: []string{"T1"}, AboutTask: true, Send: true, All: true, Format: "text"},
		"T1 --since-last --viewed a": {Args: []string{"T1"}, AboutTask: true, Since: true, Viewed: []string{"a"}, Format: "text"},
		"T1 --comment a --batch b":   nil,
		"T1 --draft --send":          nil,
		"T1 --draft --approve":       nil,
		"--format xml":               nil,
		"--format text --json":       nil,
		"--run=":                     nil,
		"a b c":                      nil,
	})
}

// TestReview lets a model read each change that somebody names, as it stands,
// and another where one could not be read.
func TestReview(t *testing.T) {
	t.Parallel()
	script, err := llmtest.ParseScript([]byte(`conversations:
  - match: review.1/reviewer.1
    turns:
      - expect: ["+bad", "Review the uncommitted changes"]
        calls:
          - tool: finish
            input: {approved: false, summary: It is bad., findings: [{severity: major, category: correctness, file: a.txt, line: 1, quote: bad, message: a bad word}, {severity: critical, file: gone.txt, line: 3, message: nobody sees it}]}
  - match: review.1/reviewer.1-tests
    turns:
      - expect: ["+bad", "The commits say of themselves", "- Worse"]
        say: I have nothing to say.
  - match: review.1/reviewer.2-tests
    turns:
      - expect: ["+bad"]
        calls: [{tool: finish, input: {approved: true, summary: Fine., findings: []}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	server, err := llmtest.NewServer(script, llmtest.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	u := clitest.NewUser(t, nil)
	u.Env["ANTHROPIC_API_KEY"], u.Env["ANTHROPIC_BASE_URL"] = "scripted", web.URL
	u.Write(map[string]string{"a.txt": "bad\n"})
	u.Expect(1, []string{"review: fail", "a.txt:1: error: a bad word", "gone.txt:3: note: nobody sees it (not verified", "1 reader, 2 findings, $"}, command)
	gittest.RunGit(t, u.Dir, "commit", "-q", "-a", "-m", "Worse")
	u.Write(map[string]string{"a.txt": "good\n"})
	u.Expect(0, []string{`"state": "pass"`, `"session": "review.1/reviewer.2-tests"`, `"approved": true`, "the reviewer could not be asked"}, command, "HEAD~1..HEAD", "--persona", "tests", "--json")
	u.Write(map[string]string{"a.txt": strings.Repeat("a line of a text that nobody reads\n", 80_000)})
	u.Expect(5, []string{"review: unverifiable", "not reviewed: the change has"}, command, "HEAD")
}

// TestReviewOfNothing asks no model.
func TestReviewOfNothing(t *testing.T) {
	t.Parallel()
	u := clitest.NewUser(t, nil)
	for _, args := range [][]string{nil, {"HEAD"}, {"HEAD..HEAD"}, {"--staged"}, {"--base", "HEAD"}} {
		u.Expect(2, []string{"nothing to review"}, command, args...)
	}
	u.Expect(2, []string{"give only one of"}, command, "HEAD", "--staged")
	u.Expect(2, []string{"persona"}, command, "--persona", "nobody")
	u.Expect(2, []string{"nowhere"}, command, "nowhere")
}
