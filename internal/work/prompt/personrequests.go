package prompt

import "fmt"

// AskedBy begins a verifier's criterion from a person's request.
const AskedBy = "a person asked: "

// personRequestsSection returns the section about people's requests to the author, for those who judge the
// change, numbered from the number of the first if they are judged like criteria.
func personRequestsSection(texts []string, from int) PromptSection {
	s := PromptSection{Title: "Asked by people", Body: bulletList(texts), Lead: "A person told the author this during the work. The change has to do what it asks for: report what is missing as a finding."}
	if from == 0 || len(texts) == 0 {
		return s
	}
	s.Lead = "A person told the author this during the work. Judge each like a criterion, with this number: met if the change does it, or if it asks for no change."
	s.Body = ""
	for i, text := range texts {
		s.Body += fmt.Sprintf("- criterion %d: %s\n", from+i, SingleLine(text))
	}
	return s
}
