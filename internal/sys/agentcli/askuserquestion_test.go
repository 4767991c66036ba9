package agentcli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

const (
	askedStore = `{"question":"Which store?","header":"Store","multiSelect":false,"options":[` +
		`{"label":"SQLite","description":"one file"},{"label":"Postgres, hosted","description":"a server"}]}`
	askedParts = `{"question":"Which parts?","header":"Parts","multiSelect":true,"options":[{"label":"list"},{"label":"show"},{"label":"a, b"}]}`
)

// TestAskedAnswer holds that what a person says becomes what the tool wants.
func TestAskedAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		questions string
		answer    string
		want      string // of answers
		err       string
	}{
		"by name":               {askedStore, "sqlite", `{"Which store?":"SQLite"}`, ""},
		"by number":             {askedStore, " 2 ", `{"Which store?":"Postgres, hosted"}`, ""},
		"in own words":          {askedStore, "a map in memory", `{"Which store?":"a map in memory"}`, ""},
		"a number of nothing":   {askedStore, "3", `{"Which store?":"3"}`, ""},
		"several":               {askedParts, "2, LIST, 2", `{"Which parts?":"show, list"}`, ""},
		"one of several":        {askedParts, "a, b", `{"Which parts?":"a, b"}`, ""},
		"several, with commas":  {askedParts, "3,1", `{"Which parts?":"\"a, b\", list"}`, ""},
		"several in own words":  {askedParts, "all, but show", `{"Which parts?":"\"all, but show\""}`, ""},
		"both":                  {askedStore + "," + askedParts, "2=1,2; 1=1", `{"Which store?":"SQLite","Which parts?":"list, show"}`, ""},
		"both, in lines":        {askedStore + "," + askedParts, "1 = none\n2 = list\n", `{"Which store?":"none","Which parts?":"list"}`, ""},
		"nothing":               {askedStore, " ", "", "the answer is empty"},
		"one of both":           {askedStore + "," + askedParts, "1=1", "", "question 2 is not answered"},
		"one twice":             {askedStore + "," + askedParts, "1=1;1=2", "", "question 1 is answered twice"},
		"one empty":             {askedStore + "," + askedParts, "1=; 2=1", "", "the answer to question 1 is empty"},
		"both without a number": {askedStore + "," + askedParts, "SQLite", "", "does not begin with the number of a question"},
		"a question of nothing": {askedStore + "," + askedParts, "1=1;3=2", "", "does not begin with the number of a question"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q, err := readUserQuestions([]byte(`{"questions":[` + c.questions + `],"metadata":{"source":"x"}}`))
			if err != nil {
				t.Fatal(err)
			}
			got, err := q.answerInput(c.answer)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var is, want any
			if json.Unmarshal([]byte(gjson.GetBytes(got, "answers").Raw), &is) != nil || json.Unmarshal([]byte(c.want), &want) != nil || !sameJSON(is, want) {
				t.Errorf("answers %s, want %s", gjson.GetBytes(got, "answers").Raw, c.want)
			}
			if gjson.GetBytes(got, "metadata.source").String() != "x" || !gjson.GetBytes(got, "questions.0").Exists() {
				t.Errorf("the input is not kept: %s", got)
			}
		})
	}
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a) // keys in order
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// TestAskedText holds that a person reads what can be chosen, and how.
func TestAskedText(t *testing.T) {
	t.Parallel()
	q, err := readUserQuestions([]byte(`{"questions":[` + askedStore + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	const one = "Which store?\n1. SQLite: one file\n2. Postgres, hosted: a server\n" +
		"Answer with the name or number of what you choose, or in your own words, or decline."
	if q.questionText() != one {
		t.Errorf("one:\n%s", q.questionText())
	}
	if q, err = readUserQuestions([]byte(`{"questions":[` + askedStore + `,` + askedParts + `]}`)); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"Question 1: Which store?\n", "Question 2: Which parts?\n1. list\n", "Several of them can be chosen", "such as 1=2; 2=neither, or decline."} {
		if !strings.Contains(q.questionText(), part) {
			t.Errorf("no %q in:\n%s", part, q.questionText())
		}
	}
	for answer, want := range map[string]bool{"Decline.": true, "cancel": true, "no": false, "": false} {
		if isDeclined(answer) != want {
			t.Errorf("%q is declined: %v", answer, !want)
		}
	}
}

// TestAskedUnread holds that what cannot be asked is not.
func TestAskedUnread(t *testing.T) {
	t.Parallel()
	for name, input := range map[string]string{
		"nothing": ``, "no object": `[]`, "no questions": `{}`, "none": `{"questions":[]}`, "a number": `{"questions":3}`, "empty": `{"questions":[{"question":" "}]}`,
		"twice": `{"questions":[` + askedStore + `,` + askedStore + `]}`, "many": `{"questions":[` + strings.Repeat(askedParts+",", 11) + askedParts + `]}`,
		"many options": `{"questions":[{"question":"x","options":[` + strings.Repeat(`{"label":"a"},`, 21) + `{"label":"b"}]}]}`,
	} {
		if q, err := readUserQuestions([]byte(input)); err == nil {
			t.Errorf("%s: %+v", name, q)
		}
	}
}

// FuzzAskedAnswer holds that whatever an agent asks and a person says, an answer is one
// object with a text for each question.
func FuzzAskedAnswer(f *testing.F) {
	f.Add(`{"questions":[`+askedStore+`]}`, "1")
	f.Add(`{"questions":[`+askedStore+`,`+askedParts+`]}`, "1=SQLite; 2=1,2")
	f.Add(`{"questions":[{"question":"\u202e"}],"answers":{"x":1}}`, "=")
	f.Fuzz(func(t *testing.T, input, answer string) {
		q, err := readUserQuestions([]byte(input))
		if err != nil {
			return
		}
		if q.questionText() == "" {
			t.Error("it says nothing")
		}
		data, err := q.answerInput(answer)
		if err != nil {
			return
		}
		var got struct {
			Answers map[string]string `json:"answers"`
		}
		if err := json.Unmarshal(data, &got); err != nil || len(got.Answers) == 0 {
			t.Errorf("%s: %v", data, err)
		}
		for q, said := range got.Answers {
			if q == "" || said == "" {
				t.Errorf("%q is answered with %q", q, said)
			}
		}
	})
}
