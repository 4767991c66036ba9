package nexus

import (
	"reflect"
	"testing"
)

// TestRenumbered gives a number to every field of every fact that is called as
// those are that hold the number of an event, and sees all of them changed.
func TestRenumbered(t *testing.T) {
	seen := 0
	for _, f := range zeroFacts() {
		v := reflect.New(reflect.TypeOf(f)).Elem()
		var fields []int
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; (name == "Seq" || name == "Request" || name == "To") && v.Field(i).Kind() == reflect.Int64 {
				v.Field(i).SetInt(7)
				fields = append(fields, i)
			}
		}
		if len(fields) == 0 {
			continue
		}
		seen++
		given, _ := v.Interface().(Fact)
		got := reflect.ValueOf(RenumberFact(given, func(n int64) int64 { return n + 100 }))
		for _, i := range fields {
			if got.Field(i).Int() != 107 {
				t.Errorf("%s keeps the number of an event in %s", f.fact(), v.Type().Field(i).Name)
			}
		}
	}
	if seen < 6 {
		t.Errorf("only %d facts hold the number of an event", seen)
	}
	if f, _ := RenumberFact(PromptSent{}, func(int64) int64 { return 1 }).(PromptSent); f.Request != 0 {
		t.Error("a prompt that is about no event is about one now")
	}
}
