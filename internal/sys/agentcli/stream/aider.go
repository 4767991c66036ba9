package stream

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// aiderDecoder decodes the output of aider, which prints text for people and exits with 0 even after
// errors. Its provider library names the errors, and aider sums up each message in one line.
type aiderDecoder struct {
	plainTextDecoder

	opened bool
	failed string // an error after which it did nothing else
	usage  nexus.Usage
	money  nexus.Money
}

const (
	aiderError      = "litellm."
	aiderTokenLimit = "has hit a token limit"
)

// DecodeLine implements [AgentStreamDecoder].
func (a *aiderDecoder) DecodeLine(line []byte) []AgentEvent {
	a.plainTextDecoder.DecodeLine(line)
	var all []AgentEvent
	if said := strings.TrimSpace(string(line)); said != "" {
		if !a.opened {
			a.opened = true
			all = append(all, AgentEvent{Kind: ConversationOpened})
		}
		switch {
		case strings.HasPrefix(said, "Tokens: "):
			a.failed = ""
			a.addTokenCounts(said)
		case strings.HasPrefix(said, aiderError) && strings.Contains(said, "Error") || strings.Contains(said, aiderTokenLimit):
			a.failed = said
		}
	}
	return all
}

// addTokenCounts reads "Tokens: 2.3k sent, 1.1k cache hit, 87 received. Cost: $0.02
// message, $0.05 session.".
func (a *aiderDecoder) addTokenCounts(said string) {
	for _, m := range regexp.MustCompile(`([0-9.,]+)([kM]?) (sent|cache write|cache hit|received)`).FindAllStringSubmatch(said, -1) {
		n, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
		if n *= map[string]float64{"": 1, "k": 1e3, "M": 1e6}[m[2]]; err != nil || n > 1e12 {
			continue
		}
		switch count := int64(math.Round(n)); m[3] {
		case "sent":
			a.usage.Input += count
		case "cache write":
			a.usage.CacheWrite += count
		case "cache hit":
			a.usage.CacheRead += count
		default:
			a.usage.Output += count
		}
	}
	if m := regexp.MustCompile(`\$([0-9.]+) session`).FindStringSubmatch(said); m != nil {
		if d, err := strconv.ParseFloat(m[1], 64); err == nil {
			a.money = max(a.money, dollarsToMoney(d))
		}
	}
}

// Cost returns the cost of the prompt so far.
func (a *aiderDecoder) Cost() nexus.Money { return a.money }

// Close implements [AgentStreamDecoder].
func (a *aiderDecoder) Close(exit int, stderr string) AgentPromptEnd {
	e := a.plainTextDecoder.Close(exit, stderr)
	if e.Fault == "" && a.failed != "" {
		if e.Fault = ClassifyFault(a.failed); e.Fault == "" {
			e.Fault = nexus.FaultCrashed
		}
		e.Why = BriefLine(a.failed)
	}
	e.Usage, e.Money = a.usage, a.money
	return e
}
