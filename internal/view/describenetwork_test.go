package view

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestDescribe(t *testing.T) {
	f := nexus.NetworkRequestsRecorded{Attempt: "T1.1", Gate: "install", Hosts: []nexus.RequestedHost{
		{Host: "a.example", Port: 443, Allowed: true, Rule: "*.example:443", Times: 3, Up: 500, Down: 12_345_678},
		{Host: "2606:4700::1", Port: 443, Why: "not on the list", Times: 1},
		{Host: "b.example", Port: 80, Allowed: true, Why: "no answer", Times: 1},
	}}
	const want = "gate install, network: a.example:443 allowed 3 times by *.example:443, 500 B up, 12 MB down; [2606:4700::1]:443 refused: not on the list; b.example:80 not reached: no answer"
	if about, text := describeNetwork(f); about != "T1.1" || text != want {
		t.Errorf("%q %q", about, text)
	}
	if !networkRefused(f) || networkRefused(nexus.NetworkRequestsRecorded{Hosts: f.Hosts[:1]}) {
		t.Error("refused")
	}
	f = nexus.NetworkRequestsRecorded{Session: "T1.1/coder.1", Hosts: make([]nexus.RequestedHost, 10)}
	if about, text := describeNetwork(f); about != "T1.1/coder.1" || text[len(text)-10:] != "and 2 more" {
		t.Errorf("%q %q", about, text)
	}
}
