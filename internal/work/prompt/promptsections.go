package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// PromptSection is a part of a prompt.
type PromptSection struct {
	Title string // heading; empty: none
	Lead  string // a sentence before the body, dropped with it
	Body  string // empty: the section is omitted
	Fence string // the body is data of this kind; empty: our own words
	Rank  int    // 0: never cut; higher ranks are cut first
	Tail  bool   // if it is cut, the end stays
	Whole int    // original length in bytes if Body was cut already; 0: it was not

	Because string // reason for which it is included; empty: the title's usual reason

	uncut string // the body before Fit cut it
}

// leastTokens is the least useful size of a section.
const leastTokens = 100

// EstimateTokens estimates the number of tokens of a text, slightly too high.
func EstimateTokens(text string) int64 { return int64(len(text)+2) / 3 }

// SentPromptSection is a section in its sent form.
type SentPromptSection struct {
	Title  string `json:"title,omitempty"`  // empty if it has no heading
	Text   string `json:"text"`             // text with its heading; empty if it was omitted
	Tokens int64  `json:"tokens"`           // estimate
	Of     int64  `json:"of,omitempty"`     // estimated tokens before the cut; 0: it was not cut
	Why    string `json:"why,omitempty"`    // why it was cut, or does not exist yet
	Reason string `json:"reason,omitempty"` // why it is included
}

// FitSections joins sections, in their order, within a number of tokens. Sections that do not fit are
// trimmed or dropped by rank, the later one first among equals; the text mentions that, and
// the titles of the cut sections are returned. Sections of rank 0 stay, even when they alone
// are too long.
func FitSections(sections []PromptSection, tokens int64) (text string, cut []string) {
	kept, cut := cutSections(sections, tokens)
	return joinSections(kept), cut
}

// fitSentSections returns the sections as [FitSections] joins them, including omitted ones.
func fitSentSections(sections []PromptSection, tokens int64) []SentPromptSection {
	kept, cut := cutSections(sections, tokens)
	var parts []SentPromptSection
	for _, s := range kept {
		p := SentPromptSection{Title: s.Title, Text: s.renderSection(), Reason: s.inclusionReason()}
		p.Tokens = EstimateTokens(p.Text)
		if s.Whole > len(s.Body) {
			p.Of, p.Why = EstimateTokens(s.Title+s.Lead)+int64(s.Whole)/3, "the most that is shown"
		}
		if slices.Contains(cut, s.Title) {
			p.Why = fmt.Sprintf("everything together must stay within %d tokens, and this is cut before what is above it", tokens)
			p.Of = max(p.Of, EstimateTokens(s.uncutSection().renderSection()))
		}
		parts = append(parts, p)
	}
	if note := omittedSectionsNote(kept); note != "" {
		parts = append(parts, SentPromptSection{Text: note, Tokens: EstimateTokens(note), Reason: "names what was left out"})
	}
	return parts
}

// cutSections returns the sections that are not empty, cut to a number of tokens, and the titles of
// those that were cut. An omitted section has an empty body.
func cutSections(sections []PromptSection, tokens int64) (kept []PromptSection, cut []string) {
	kept = slices.DeleteFunc(slices.Clone(sections), func(s PromptSection) bool { return strings.TrimSpace(s.Body) == "" && s.Whole == 0 })
	var order []int
	for i, s := range kept {
		if s.Rank > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(kept[b].Rank, kept[a].Rank), cmp.Compare(b, a))
	})
	for _, i := range order {
		over := EstimateTokens(joinSections(kept)) - tokens
		if over <= 0 {
			break
		}
		s := &kept[i]
		cut = append(cut, s.Title)
		s.uncut = s.Body
		if room := EstimateTokens(s.Body) - over - leastTokens; room >= leastTokens {
			s.Body = s.trimmedBody(int(room) * 3)
		} else {
			s.Body = ""
		}
	}
	return kept, cut
}

// uncutSection returns the section as it was before it was cut.
func (s PromptSection) uncutSection() PromptSection {
	if s.uncut != "" {
		s.Body = s.uncut
	}
	return s
}

// trimmedBody returns the body cut to a number of bytes.
func (s PromptSection) trimmedBody(bytes int) string {
	if s.Tail {
		return truncateToTail(s.Body, bytes)
	}
	return TruncateToBeginning(s.Body, bytes)
}

// renderSection returns the section in its sent form, or "" if it is omitted.
func (s PromptSection) renderSection() string {
	if s.Body == "" {
		return ""
	}
	var b strings.Builder
	if s.Title != "" {
		b.WriteString("## " + s.Title + "\n\n")
	}
	if s.Lead != "" {
		b.WriteString(s.Lead + "\n\n")
	}
	body := strings.Trim(s.Body, "\n")
	if s.Fence != "" {
		body = sanitize.FenceUntrustedText(s.Fence, body)
	}
	return b.String() + body
}

// omittedSectionsNote names the omitted sections, or returns "".
func omittedSectionsNote(kept []PromptSection) string {
	var titles []string
	for _, s := range kept {
		if s.Body == "" {
			titles = append(titles, s.Title)
		}
	}
	if len(titles) == 0 {
		return ""
	}
	return "Left out for length: " + strings.Join(titles, ", ") + "."
}

func joinSections(kept []PromptSection) string {
	var all []string
	for _, s := range kept {
		if text := s.renderSection(); text != "" {
			all = append(all, text)
		}
	}
	if note := omittedSectionsNote(kept); note != "" {
		all = append(all, note)
	}
	return strings.Join(all, "\n\n") + "\n"
}
