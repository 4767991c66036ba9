package diffreview

import (
	"encoding/json"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// maxAnswers is the number of bytes at the end of a message that are searched for answers.
const maxAnswers = 64 << 10

// ReadCommentAnswers returns the answers to comments in the message of an agent that has no tool for
// submissions: in the last JSON object with answers, or in lines such as "c1: declined:
// REASON".
func ReadCommentAnswers(text string) []nexus.CommentAnswer {
	if len(text) > maxAnswers {
		text = strings.ToValidUTF8(text[len(text)-maxAnswers:], "")
	}
	if all := readJSONAnswers(text); len(all) > 0 {
		return all
	}
	var all []nexus.CommentAnswer
	for line := range strings.Lines(text) {
		head, rest, ok := strings.Cut(strings.Trim(strings.TrimSpace(line), "-*` "), ":")
		id := strings.ToLower(strings.Trim(strings.TrimSpace(head), "*`_ "))
		if !ok || !isCommentID(id) {
			continue
		}
		word, why, _ := strings.Cut(strings.TrimSpace(strings.Trim(strings.TrimSpace(rest), "*`")), " ")
		word = strings.ToLower(strings.Trim(word, "*`_.,:;"))
		reply := nexus.CommentReplyKind(word)
		if !isKnownReply(reply) {
			continue
		}
		all = append(all, nexus.CommentAnswer{
			Comment: id, Reply: reply,
			Why: strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(why), "-:*` ")),
		})
	}
	return all
}

// readJSONAnswers reads the last JSON object with answers.
func readJSONAnswers(text string) []nexus.CommentAnswer {
	for i := strings.LastIndex(text, `"answers"`); i >= 0; i = strings.LastIndex(text[:i], `"answers"`) {
		start := strings.LastIndexByte(text[:i], '{')
		if start < 0 {
			continue
		}
		var in struct {
			Answers []struct {
				Comment string                 `json:"comment"`
				Status  nexus.CommentReplyKind `json:"status"`
				Why     string                 `json:"why"`
			} `json:"answers"`
		}
		if json.NewDecoder(strings.NewReader(text[start:])).Decode(&in) != nil {
			continue
		}
		var all []nexus.CommentAnswer
		for _, a := range in.Answers {
			if id := strings.ToLower(strings.TrimSpace(a.Comment)); isCommentID(id) {
				if !isKnownReply(a.Status) {
					a.Status = nexus.CommentAsked
				}
				all = append(all, nexus.CommentAnswer{Comment: id, Reply: a.Status, Why: a.Why})
			}
		}
		return all
	}
	return nil
}

func isKnownReply(r nexus.CommentReplyKind) bool {
	for _, one := range nexus.CommentReplies() {
		if r == one {
			return true
		}
	}
	return false
}

// isCommentID reports whether a word is the ID of a comment: c1, c2, ...
func isCommentID(word string) bool {
	digits, ok := strings.CutPrefix(word, "c")
	return ok && digits != "" && len(digits) < 8 && strings.Trim(digits, "0123456789") == "" && digits[0] != '0'
}
