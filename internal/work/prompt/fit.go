package prompt

import (
	"cmp"
	"slices"
	"strings"
)

// Section is a part of a prompt.
type Section struct {
	Title string // heading; empty for none
	Lead  string // a sentence before the body, dropped with it
	Body  string // empty leaves the section out
	Fence string // the body is data of this kind; empty for our own words
	Rank  int    // 0 stays whole; the higher, the sooner it is cut
	Tail  bool   // when it is cut, the end stays
}

// leastTokens is the least that is worth keeping of a section.
const leastTokens = 100

// Tokens estimates how many tokens a text is, a little above what is usual.
func Tokens(text string) int64 { return int64(len(text)+2) / 3 }

// Fit puts sections together, in their order, within a number of tokens. What
// does not fit is trimmed or dropped by rank, the later one first among
// equals; the text says so, and the titles of what was cut are returned.
// Sections of rank 0 stay, even when they alone are too long.
func Fit(sections []Section, tokens int64) (text string, cut []string) {
	kept := slices.DeleteFunc(slices.Clone(sections), func(s Section) bool { return strings.TrimSpace(s.Body) == "" })
	var order []int
	for i, s := range kept {
		if s.Rank > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(kept[b].Rank, kept[a].Rank), cmp.Compare(b, a))
	})
	var dropped []string
	text = join(kept, nil)
	for _, i := range order {
		over := Tokens(text) - tokens
		if over <= 0 {
			break
		}
		s := &kept[i]
		cut = append(cut, s.Title)
		if room := Tokens(s.Body) - over - leastTokens; room >= leastTokens {
			s.Body = s.trim(int(room) * 3)
		} else {
			s.Body = ""
			dropped = append(dropped, s.Title)
		}
		text = join(kept, dropped)
	}
	return text, cut
}

// trim returns the body cut to a number of bytes.
func (s Section) trim(bytes int) string {
	if s.Tail {
		return tail(s.Body, bytes)
	}
	return head(s.Body, bytes)
}

func join(sections []Section, dropped []string) string {
	var b strings.Builder
	for _, s := range sections {
		if s.Body == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		if s.Title != "" {
			b.WriteString("## " + s.Title + "\n\n")
		}
		if s.Lead != "" {
			b.WriteString(s.Lead + "\n\n")
		}
		body := strings.Trim(s.Body, "\n")
		if s.Fence != "" {
			body = Fence(s.Fence, body)
		}
		b.WriteString(body)
	}
	if len(dropped) > 0 {
		b.WriteString("\n\nLeft out for length: " + strings.Join(dropped, ", ") + ".")
	}
	return b.String() + "\n"
}
