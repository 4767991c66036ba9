package codemap_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
)

// shop is a repository in which files depend on others.
func shop() map[string]string {
	return map[string]string{
		"go.mod":                "module example.org/shop\n",
		"price/price.go":        "package price\n\n// Total adds up.\nfunc Total(all []int) int { return sum(all) }\n\nfunc sum(all []int) int { return len(all) }\n",
		"price/index.go":        "package price\n\n// Index is Total of one.\nfunc Index() int {\n\treturn Total([]int{1})\n}\n",
		"price/tax.go":          "package price\n\nfunc Tax() int { return 19 }\n",
		"price/price_test.go":   "package price\n\nfunc TestTotal(t *T) { sum(nil) }\n",
		"price/tax_test.go":     "package price\n\nfunc TestTax(t *T) { Tax() }\n",
		"cmd/shop/main.go":      "package main\n\nimport \"example.org/shop/price\"\n\nfunc main() {\n\tprint(price.Total(nil)) // Totals are not Total\n}\n",
		"cmd/shop/main_test.go": "package main\n\nimport \"example.org/shop/price\"\n\nfunc TestMain(t *T) { price.Total(nil) }\n",
		"web/cart/index.ts":     "export function cart() { return 1 }\n",
		"web/app.ts":            "import { cart } from './cart'\nexport const app = cart()\n",
		"web/cart.test.ts":      "import { cart } from './cart'\ntest('cart', () => cart())\n",
		"py/pack/__init__.py":   "def load():\n    return 1\n",
		"py/use.py":             "from .pack import load\n\nload()\n",
		"py/tests/test_use.py":  "from ..pack import load\n\ndef test_load():\n    load()\n",
	}
}

func TestSymbol(t *testing.T) {
	s := look(t, shop())
	for name, want := range map[string][2]string{
		"price.Total": {"price/price.go:4", "cmd/shop/main.go:6 main, cmd/shop/main_test.go:5, price/index.go:3, price/index.go:5 Index, price/price.go:3"},
		"sum":         {"price/price.go:6", "price/price.go:4, price/price_test.go:3"},
		"cart":        {"web/cart/index.ts:1", "web/app.ts:1, web/app.ts:2, web/cart.test.ts:1, web/cart.test.ts:2"},
		"Tot":         {},
		"":            {},
	} {
		declared, used, err := s.FindSymbol(t.Context(), name)
		if diff := cmp.Diff(want, [2]string{at(declared), at(used)}); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

func at(all []codemap.SourceLine) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.String()
	}
	return strings.Join(texts, ", ")
}

func TestDependentsAndTests(t *testing.T) {
	s := look(t, shop())
	for file, want := range map[string]struct{ dependents, tests []string }{
		"price/price.go":      {[]string{"cmd/shop/main.go", "cmd/shop/main_test.go", "price/index.go", "price/price_test.go"}, []string{"price/price_test.go", "cmd/shop/main_test.go"}},
		"price/tax.go":        {[]string{"cmd/shop/main.go", "cmd/shop/main_test.go", "price/tax_test.go"}, []string{"price/tax_test.go"}},
		"web/cart/index.ts":   {[]string{"web/app.ts", "web/cart.test.ts"}, []string{"web/cart.test.ts"}},
		"py/pack/__init__.py": {[]string{"py/tests/test_use.py", "py/use.py"}, []string{"py/tests/test_use.py"}},
		"cmd/shop/main.go":    {[]string{"cmd/shop/main_test.go"}, []string{"cmd/shop/main_test.go"}},
		"go.mod":              {nil, nil},
	} {
		dependents, err := s.FindDependents(t.Context(), file)
		if diff := cmp.Diff(want.dependents, dependents); diff != "" || err != nil {
			t.Errorf("dependents of %s: %v %s", file, err, diff)
		}
		tests, err := s.FindTests(t.Context(), file)
		if diff := cmp.Diff(want.tests, tests); diff != "" || err != nil {
			t.Errorf("tests of %s: %v %s", file, err, diff)
		}
	}
	_, dependents := s.FindDependents(t.Context(), "nowhere.go")
	_, tests := s.FindTests(t.Context(), "nowhere.go")
	for _, err := range []error{dependents, tests} {
		if !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			t.Error(err)
		}
	}
}
