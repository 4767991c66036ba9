package route

import "strings"

// MaxFallbackModels is how many models may be asked in the place of another.
const MaxFallbackModels = 2

// ChooseReader chooses the model that looks at what another one, the author, made:
// a model does not see its own mistakes as well as another one does, and what
// one provider trained alike errs alike. It takes the first of those that can
// do it whose provider is another, else the first other model, else the author
// itself. They are in the order in which tiers prefer them.
func ChooseReader(author string, can []string) (name, why string) {
	maker, _, _ := strings.Cut(author, "/")
	other := ""
	for _, c := range can {
		if of, _, _ := strings.Cut(c, "/"); of != maker {
			return c, "it is another provider's"
		}
		if other == "" && c != author {
			other = c
		}
	}
	if other != "" {
		return other, "it is another model"
	}
	return author, "no other model is set up; add one with another provider's key or another model for a tier"
}
