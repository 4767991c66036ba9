package openai

import (
	_ "embed" // the table of quirks
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// quirks.json is curated by hand: how servers differ from what OpenAI
// documents. The last row is for the servers that nobody has tried.
//
//go:embed quirks.json
var quirks []byte

// Server is how one kind of server speaks the wire.
type Server struct {
	Name      string   `json:"name"`
	Hosts     []string `json:"hosts"`             // of its address, subdomains included
	Ports     []string `json:"ports"`             // that it usually listens on, on this machine
	Limit     string   `json:"limit"`             // what it calls the bound on an answer
	Effort    string   `json:"effort"`            // what it calls the effort; empty: it takes none
	Context   string   `json:"context"`           // field of a listed model with its context size
	NoOptions bool     `json:"no_stream_options"` // it refuses or ignores the wish for usage
	StrictIDs bool     `json:"strict_ids"`        // a call without an id is a fault, not a habit
	Cost      bool     `json:"cost"`              // it says what a call cost
	CacheKey  bool     `json:"cache_key"`         // it wants to be told which requests begin alike
	Note      string   `json:"note"`
}

type table struct {
	Servers []Server          `json:"servers"`
	Stops   map[string]string `json:"stops"` // what a finish_reason means, where it is not the end of an answer
}

// load reads the table, which its test has read before.
func load() table {
	var t table
	if err := json.Unmarshal(quirks, &t); err != nil || len(t.Servers) == 0 {
		return table{Servers: []Server{{Name: "compatible", Limit: "max_tokens"}}}
	}
	return t
}

// Servers returns the servers whose quirks are known.
func Servers() []Server { return load().Servers }

// Official reports whether the address is OpenAI's own, which the Responses
// API is for; all others are asked by Chat Completions.
func Official(base string) bool { return base == "" || load().at(base, "").Name == "openai" }

// at returns the server with the name, else the one that the address tells.
func (t table) at(base, name string) Server {
	if i := slices.IndexFunc(t.Servers, func(s Server) bool { return s.Name == name }); i >= 0 {
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

// stop returns what a finish_reason means, and false where the server says
// with it that it failed.
func (t table) stop(reason string) (llm.Stop, bool) {
	switch t.Stops[reason] {
	case "length":
		return llm.StopLength, true
	case "refuse":
		return llm.StopRefuse, true
	case "error":
		return "", false
	default:
		return llm.StopDone, true // or StopTools: the calls decide, because some servers say "stop" with calls
	}
}
