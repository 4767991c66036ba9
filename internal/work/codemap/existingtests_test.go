package codemap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExisting(t *testing.T) {
	s := look(t, shop())
	for files, want := range map[string]string{
		"price/price.go":    "price/price_test.go: TestTotal\ncmd/shop/main_test.go: TestMain\n",
		"price/tax_test.go": "price/tax_test.go: TestTax\n",
		"web/cart/index.ts": "web/cart.test.ts: cart\n",
		"new.go":            "",
	} {
		got, err := s.ExistingTests(t.Context(), strings.Fields(files), "")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", files, err, diff)
		}
	}
}

// TestExistingWithinItsBudget: what does not fit is counted.
func TestExistingWithinItsBudget(t *testing.T) {
	tree := shop()
	for i := range 80 {
		tree["price/price_test.go"] += fmt.Sprintf("\nfunc TestTotalOfManyThings%d(t *T) { Total(nil) }\n", i)
	}
	got, err := look(t, tree).ExistingTests(t.Context(), []string{"price/price.go"}, "")
	if want := "price/price_test.go: 81 tests\ncmd/shop/main_test.go: 1 test\n"; got != want || err != nil {
		t.Errorf("%q %v", got, err)
	}
}
