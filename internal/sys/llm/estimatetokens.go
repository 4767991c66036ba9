package llm

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// Overhead that a provider adds to a request, as generous estimates in tokens.
const (
	tokensPerRequest = 64
	tokensPerPart    = 16
	tokensPerTool    = 64
	tokensForTools   = 1024 // the provider's own prompt about tools
)

// EstimateRequest returns an upper bound of the tokens of r. A token is at least one byte, so bytes are a
// bound; usual text and code have a third to a quarter as many tokens.
func EstimateRequest(r Request) int64 {
	n := tokensPerRequest + len(r.System) + len(r.Schema)
	if len(r.Tools) > 0 {
		n += tokensForTools
	}
	for _, t := range r.Tools {
		n += tokensPerTool + len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			n += tokensPerPart + len(p.Text) + len(p.Raw)
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

// bytesPerToken is the estimated bytes per token, a little below the usual number.
const bytesPerToken = 3

// EstimateTokens estimates the number of tokens in a text with this number of bytes.
func EstimateTokens(bytes int64) int64 { return (bytes + bytesPerToken - 1) / bytesPerToken }

// EstimateUsage returns the usage of a call for which the provider has reported u so far, before
// its stream broke or without a final report; arrived is the number of received bytes of the
// answer. The result is u, raised to an estimate where u is less than that.
func EstimateUsage(r Request, u nexus.Usage, arrived int) nexus.Usage {
	if u.PromptTokens() == 0 {
		u.Input = EstimateTokens(EstimateRequest(r))
	}
	u.Output = max(u.Output, EstimateTokens(int64(arrived)))
	return u
}
