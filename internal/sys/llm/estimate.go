package llm

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// What a provider adds around what was sent, generously.
const (
	perRequest = 64
	perPart    = 16
	perTool    = 64
	anyTools   = 1024 // the provider's own prompt about tools
)

// Estimate returns an upper bound of the tokens that r is read as. No token
// is shorter than a byte, so bytes bound them; usual text and code have a
// third to a quarter of it.
func Estimate(r Request) int64 {
	n := perRequest + len(r.System) + len(r.Schema)
	if len(r.Tools) > 0 {
		n += anyTools
	}
	for _, t := range r.Tools {
		n += perTool + len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			n += perPart + len(p.Text) + len(p.Raw)
			if p.Call != nil {
				n += len(p.Call.ID) + len(p.Call.Tool) + len(p.Call.Input)
			}
			if p.Result != nil {
				n += len(p.Result.ID) + len(p.Result.Text)
			}
		}
	}
	return int64(n)
}

// bytesPerToken is how many bytes a token has where nobody counted: a little
// fewer than usual.
const bytesPerToken = 3

// Tokens estimates how many tokens a text of so many bytes has.
func Tokens(bytes int64) int64 { return (bytes + bytesPerToken - 1) / bytesPerToken }

// EstimateUsage returns what a call used for which the provider has reported u so
// far, before its stream broke or without ever saying more, when so many bytes
// of the answer have arrived: whatever was reported, and an estimate where
// that says less than what arrived.
func EstimateUsage(r Request, u nexus.Usage, arrived int) nexus.Usage {
	if u.Prompt() == 0 {
		u.Input = Tokens(Estimate(r))
	}
	u.Output = max(u.Output, Tokens(int64(arrived)))
	return u
}
