package trafficrecord

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// Player answers from a recording, without any network access. It may be used by many goroutines.
type Player struct {
	mask  func([]byte) []byte
	all   []recordedProviderCall
	calls map[string][]int // all calls, by key, in the order of their attempts
	loose map[string][]int // the same, by the key without the parts that depend on the tree

	mu     sync.Mutex // guards the fields below
	played []bool     // for each call
	odd    []string   // differences between requests and the recorded requests of their answers
}

// LoadRecording reads a recording; mask must be the function with which it was written, since requests are
// compared in masked form.
func LoadRecording(dir string, mask func([]byte) []byte) (*Player, error) {
	all, err := loadRecordedCalls(dir)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, &nexus.Error{
			Code: nexus.CodeNotFound, Message: "there is no recording in " + dir,
			Hint: "Name a directory that nexus wrote with --record.",
		}
	}
	slices.SortStableFunc(all, func(x, y recordedProviderCall) int { return x.Try - y.Try })
	p := &Player{mask: mask, calls: map[string][]int{}, loose: map[string][]int{}, all: all, played: make([]bool, len(all))}
	for i, c := range all {
		p.calls[c.callKey()] = append(p.calls[c.callKey()], i)
		if key := c.callKeyWithoutTools(); key != "" {
			p.loose[key] = append(p.loose[key], i)
		}
	}
	return p, nil
}

// LooseMatchCount returns the number of answers to requests that differed from the recorded ones in
// the state of the tree, and the first difference.
func (p *Player) LooseMatchCount() (n int, first string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.odd) == 0 {
		return 0, ""
	}
	return len(p.odd), p.odd[0]
}

// ProviderNames returns the names of the recorded providers.
func (p *Player) ProviderNames() []string {
	names := map[string]bool{}
	for _, c := range p.all {
		names[c.Provider] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Transport returns a transport with the answers of a provider.
func (p *Player) Transport(provider string) http.RoundTripper { return replayTransport{p, provider} }

type replayTransport struct {
	*Player
	provider string
}

// RoundTrip implements [http.RoundTripper].
func (p replayTransport) RoundTrip(q *http.Request) (*http.Response, error) {
	body, err := readBody(q)
	if err != nil {
		return nil, err
	}
	if p.mask != nil {
		body = p.mask(body)
	}
	want := newRecordedCall(p.provider, q, body)
	c, ok := p.nextMatchingCall(want)
	if !ok {
		return nil, &llm.ModelCallError{Class: llm.Fatal, Code: string(nexus.CodeNotRecorded), Cause: p.mismatchError(want)}
	}
	if c.Response.Status == 0 {
		return nil, errors.New(c.Response.Failed)
	}
	said := c.Response.bodyBytes()
	resp := &http.Response{
		StatusCode: c.Response.Status, Status: fmt.Sprintf("%d %s", c.Response.Status, http.StatusText(c.Response.Status)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Request: q, ContentLength: -1,
	}
	for name, v := range c.Response.Header {
		resp.Header.Set(name, v)
	}
	if c.Response.Failed == "" {
		resp.Body = io.NopCloser(bytes.NewReader(said))
	} else {
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(said), truncatedBody{errors.New(c.Response.Failed)}))
	}
	return resp, nil
}

// truncatedBody is the rest of an answer that was cut off.
type truncatedBody struct{ err error }

// Read implements [io.Reader].
func (b truncatedBody) Read([]byte) (int, error) { return 0, b.err }

// nextMatchingCall returns the next attempt of a call: of exactly the same request if there is one, otherwise
// of one that differs only in the state of the tree. If sessions run in parallel, others land
// earlier or later, which the results of tools show.
func (p *Player) nextMatchingCall(want recordedProviderCall) (recordedProviderCall, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := p.calls[want.callKey()]
	if i, ok := p.firstUnplayedCall(same); ok {
		p.played[i] = true
		return p.all[i], true
	}
	if len(same) > 0 {
		return recordedProviderCall{}, false
	}
	i, ok := p.firstUnplayedCall(p.loose[want.callKeyWithoutTools()])
	if !ok {
		return recordedProviderCall{}, false
	}
	p.played[i] = true
	p.odd = append(p.odd, fmt.Sprintf("step %d of conversation %s: %s", want.Step, conversationLabel(want.Conversation), firstDifference(p.all[i].Request, want.Request)))
	return p.all[i], true
}

// firstUnplayedCall returns the first of some calls that was not played yet.
func (p *Player) firstUnplayedCall(some []int) (int, bool) {
	for _, i := range some {
		if !p.played[i] {
			return i, true
		}
	}
	return 0, false
}

// mismatchError returns an error with the difference between a request and the recording.
func (p *Player) mismatchError(want recordedProviderCall) error {
	e := &nexus.Error{
		Code: nexus.CodeNotRecorded,
		Hint: "Replay what was recorded: the same goal or plan, files, settings and version; or record again with --record.",
	}
	where := fmt.Sprintf("the recording has no answer for step %d of conversation %s", want.Step, conversationLabel(want.Conversation))
	var spoken []recordedProviderCall // recorded calls of the same conversation
	for _, c := range p.all {
		if c.Provider == want.Provider && c.Conversation == want.Conversation {
			spoken = append(spoken, c)
		}
	}
	i := slices.IndexFunc(spoken, func(c recordedProviderCall) bool { return c.Step == want.Step })
	switch {
	case i >= 0 && len(p.calls[want.callKey()]) > 0:
		e.Message = fmt.Sprintf("%s once more: it was asked %d times when it was recorded", where, len(p.calls[want.callKey()]))
	case i >= 0:
		e.Message = where + ": " + firstDifference(spoken[i].Request, want.Request)
	case len(spoken) > 0:
		e.Message = fmt.Sprintf("%s, which ended after %d when it was recorded", where, len(spoken))
	default:
		e.Message = fmt.Sprintf("%s with %s, only of %s", where, want.Provider, strings.Join(p.conversationNames(), ", "))
	}
	return e
}

func conversationLabel(conversation string) string {
	if conversation == "" {
		return "(without a name)"
	}
	return conversation
}

// conversationNames lists some of the recorded conversations.
func (p *Player) conversationNames() []string {
	names := map[string]bool{}
	for _, c := range p.all {
		names[c.Provider+" "+conversationLabel(c.Conversation)] = true
	}
	all := slices.Sorted(maps.Keys(names))
	if len(all) > 8 {
		all = append(all[:8], "...")
	}
	return all
}

// firstDifference describes the first difference of two requests.
func firstDifference(recorded, asked recordedRequest) string {
	if recorded.Method != asked.Method || recorded.Path != asked.Path {
		return fmt.Sprintf("recorded was %s %s, asked is %s %s", recorded.Method, recorded.Path, asked.Method, asked.Path)
	}
	x, okX := decodeNormalized(recorded.Body)
	y, okY := decodeNormalized(asked.Body)
	if !okX || !okY {
		return "the bodies differ"
	}
	if where := compareValues("", x, y); where != "" {
		return where
	}
	return "nothing differs"
}

// compareValues returns the first difference of two values, or "".
func compareValues(at string, x, y any) string {
	switch x := x.(type) {
	case map[string]any:
		y, ok := y.(map[string]any)
		if !ok {
			break
		}
		keys := slices.AppendSeq(slices.Collect(maps.Keys(x)), maps.Keys(y))
		slices.Sort(keys)
		for _, k := range slices.Compact(keys) {
			if d := compareValues(strings.TrimPrefix(at+"."+k, "."), x[k], y[k]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		y, ok := y.([]any)
		if !ok {
			break
		}
		for i := range min(len(x), len(y)) {
			if d := compareValues(fmt.Sprintf("%s[%d]", at, i), x[i], y[i]); d != "" {
				return d
			}
		}
		if len(x) != len(y) {
			return fmt.Sprintf("%s has %d parts, recorded were %d", at, len(y), len(x))
		}
		return ""
	}
	a, b := fmt.Sprint(x), fmt.Sprint(y)
	if a == b || sortedWords(a) == sortedWords(b) {
		return ""
	}
	if w := firstNewWord(a, b); w != "" {
		return fmt.Sprintf("%s holds %q, which was not recorded, in %q", at, w, excerptAround(b, strings.Index(b, w)))
	}
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("%s differs: recorded was %q, asked is %q", at, excerptAround(a, i), excerptAround(b, i))
}

// firstNewWord returns the first word of a multi-line text that the other one lacks: text that has only
// moved is no difference.
func firstNewWord(recorded, asked string) string {
	if !strings.Contains(recorded, "\n") {
		return ""
	}
	known := map[string]bool{}
	for w := range strings.FieldsSeq(recorded) {
		known[w] = true
	}
	for w := range strings.FieldsSeq(asked) {
		if !known[w] {
			return w
		}
	}
	return ""
}

// excerptAround returns the text around an index.
func excerptAround(s string, i int) string {
	return strings.ToValidUTF8(s[max(0, i-30):min(len(s), i+50)], "")
}
