package openai

import (
	_ "embed" // the table of quirks
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// quirksJSON.json lists the differences of servers from OpenAI's documentation, and is maintained by
// hand. The last row is for unknown servers.
//
//go:embed quirks.json
var quirksJSON []byte

// ServerQuirks describes the differences of one kind of server.
type ServerQuirks struct {
	Name      string   `json:"name"`
	Hosts     []string `json:"hosts"`             // hosts in its URL, including subdomains
	Ports     []string `json:"ports"`             // usual local ports
	Limit     string   `json:"limit"`             // field for the limit of the answer
	Effort    string   `json:"effort"`            // field for the effort; empty: not supported
	Context   string   `json:"context"`           // field of a listed model with its context size
	NoOptions bool     `json:"no_stream_options"` // it refuses or ignores the option for usage
	StrictIDs bool     `json:"strict_ids"`        // a call without an ID is an error rather than usual
	Cost      bool     `json:"cost"`              // it reports the cost of a call
	CacheKey  bool     `json:"cache_key"`         // it uses a key for requests that begin alike
	Note      string   `json:"note"`
}

type serverQuirksTable struct {
	Servers []ServerQuirks    `json:"servers"`
	Stops   map[string]string `json:"stops"` // meanings of finish_reason other than the end of an answer
}

// loadQuirks parses the table, which its test has validated.
func loadQuirks() serverQuirksTable {
	var t serverQuirksTable
	if err := json.Unmarshal(quirksJSON, &t); err != nil || len(t.Servers) == 0 {
		return serverQuirksTable{Servers: []ServerQuirks{{Name: "compatible", Limit: "max_tokens"}}}
	}
	return t
}

// ServersWithQuirks returns the servers with known quirks.
func ServersWithQuirks() []ServerQuirks { return loadQuirks().Servers }

// IsOpenAIServer reports whether the URL is OpenAI's own. The Responses API is used only there, and Chat
// Completions elsewhere.
func IsOpenAIServer(base string) bool {
	return base == "" || loadQuirks().findServer(base, "").Name == "openai"
}

// findServer returns the server with the name, else the one that matches the URL.
func (t serverQuirksTable) findServer(base, name string) ServerQuirks {
	if i := slices.IndexFunc(t.Servers, func(s ServerQuirks) bool { return s.Name == name }); i >= 0 {
		return t.Servers[i]
	}
	u, err := url.Parse(base)
	if base == "" {
		return t.Servers[0]
	}
	for _, s := range t.Servers {
		if err == nil && (slices.ContainsFunc(s.Hosts, func(h string) bool { return u.Hostname() == h || strings.HasSuffix(u.Hostname(), "."+h) }) ||
			slices.Contains(s.Ports, u.Port())) {
			return s
		}
	}
	return t.Servers[len(t.Servers)-1]
}

// stopReason returns the meaning of a finish_reason, and false if it means that the server failed.
func (t serverQuirksTable) stopReason(reason string) (llm.StopReason, bool) {
	switch t.Stops[reason] {
	case "length":
		return llm.StopLength, true
	case "refuse":
		return llm.StopRefuse, true
	case "error":
		return "", false
	default:
		return llm.StopDone, true // or StopTools: the calls decide, because some servers send "stop" with calls
	}
}
