package policy

import (
	"testing"
)

func TestRule(t *testing.T) {
	r := CommandPolicyContext{
		Allow: []string{"mcp:a", "mcp:b/one", "mcp:c/", "make"},
		Ask:   []string{"mcp:a/asked"},
		Deny:  []string{"mcp:a/denied", "mcp:d", "mcp:b/one/two"},
	}
	for name, want := range map[[2]string]string{
		{"a", "x"}:      "allow own.allow",
		{"a", "asked"}:  "ask own.ask",
		{"a", "denied"}: "deny own.deny",
		{"b", "one"}:    "allow own.allow",
		{"b", "two"}:    "ask mcp.call",
		{"c", "x"}:      "allow own.allow",
		{"d", "x"}:      "deny own.deny",
		{"ab", "x"}:     "ask mcp.call",
		{"make", "x"}:   "ask mcp.call",
	} {
		d := JudgeServerTool(name[0], name[1], r)
		if got := string(d.Decision) + " " + d.Rule; got != want {
			t.Errorf("%s: %s, want %s", ServerToolName(name[0], name[1]), got, want)
		}
	}
	if d := JudgeServerTool("a", "x", CommandPolicyContext{}); d.Decision != Ask {
		t.Errorf("without rules: %v", d)
	}
}
