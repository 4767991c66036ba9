package route

import "strings"

// MaxFallbackModels is the maximum number of models that may replace another one.
const MaxFallbackModels = 2

// ChooseReviewModel chooses the model that reviews the work of another model, the author: a model
// sees its own mistakes less well than another one does, and models of one provider make
// similar mistakes. It returns the first usable model of another provider, else the first
// other model, else the author itself. The models are in the order of the tiers' preference.
func ChooseReviewModel(author string, can []string) (name, why string) {
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
