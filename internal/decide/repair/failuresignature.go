package repair

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// FailureSignature identifies a failure: the gate and the classes and messages of its findings,
// without the parts that change from run to run. Two failures with the same signature are the
// same failure.
func FailureSignature(gate string, findings []nexus.Finding) string {
	lines := make([]string, 0, len(findings))
	for _, f := range findings {
		lines = append(lines, strings.Join([]string{f.Gate, f.Code, f.File, f.Test, normalizeMessage(f.Message)}, "\x00"))
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	sum := sha256.Sum256([]byte(gate + "\x01" + strings.Join(lines, "\x01")))
	return gate + ":" + hex.EncodeToString(sum[:6])
}

// normalizeMessage removes the differences between two runs of the same failure: numbers, hexadecimal
// addresses, and runs of white space.
func normalizeMessage(message string) string {
	var b strings.Builder
	for _, word := range strings.Fields(message) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if isHexAddress(word) {
			b.WriteByte('@')
			continue
		}
		digits := false
		for _, r := range word {
			if unicode.IsDigit(r) {
				if !digits {
					b.WriteByte('#')
				}
				digits = true
				continue
			}
			digits = false
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

func isHexAddress(word string) bool {
	hexed, ok := strings.CutPrefix(strings.Trim(word, "(),.:;"), "0x")
	return ok && len(hexed) > 2 && strings.Trim(hexed, "0123456789abcdefABCDEF") == ""
}
