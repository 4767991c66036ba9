package estimatetext_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/estimatetext"
)

// TestWords holds that an estimate says what it is taken from.
func TestWords(t *testing.T) {
	for want, e := range map[string]nexus.PlanEstimate{
		"estimate by a rule of thumb:\n  time: about 3 min (1 to 9), 4 min of work\n  money: unknown, 1 task without a known price; at the worst $5.00, the budget": {
			Work: 4, Minutes: 3, Low: nexus.PlanEstimateBound{Minutes: 1}, High: nexus.PlanEstimateBound{Minutes: 9}, Thumb: 2, Unpriced: 1,
		},
		"estimate from 12 earlier tasks:\n  time: about 3 min (1 to 9), 4 min of work\n  money: about $2.00 ($1.00 to $3.00); at the worst $5.00, the budget": {
			Work: 4, Minutes: 3, Low: nexus.PlanEstimateBound{Minutes: 1, Money: nexus.Dollar}, High: nexus.PlanEstimateBound{Minutes: 9, Money: 3 * nexus.Dollar}, Money: 2 * nexus.Dollar, Samples: 12,
		},
		"estimate from 2 earlier tasks:\n  time: about 1 min, 1 min of work\n  money: about $2.00; at the worst $5.00, the budget": {
			Work: 1, Minutes: 1, Low: nexus.PlanEstimateBound{Minutes: 1, Money: 2 * nexus.Dollar}, High: nexus.PlanEstimateBound{Minutes: 1, Money: 2 * nexus.Dollar}, Money: 2 * nexus.Dollar, Samples: 2,
		},
		"estimate from 2 earlier tasks:\n  time: about 1 min, 1 min of work\n  money: about $2.00 ($1.00 to $5.00); at the worst $5.00, the budget": {
			Work: 1, Minutes: 1, Low: nexus.PlanEstimateBound{Minutes: 1, Money: nexus.Dollar}, High: nexus.PlanEstimateBound{Minutes: 1, Money: 9 * nexus.Dollar}, Money: 2 * nexus.Dollar, Samples: 2,
		},
		"estimate from 2 earlier tasks:\n  time: about 1 min, 1 min of work\n  money: about $6.00, more than the budget: the run ends when $5.00 are spent": {
			Work: 1, Minutes: 1, Low: nexus.PlanEstimateBound{Minutes: 1, Money: nexus.Dollar}, High: nexus.PlanEstimateBound{Minutes: 1, Money: 9 * nexus.Dollar}, Money: 6 * nexus.Dollar, Samples: 2,
		},
	} {
		e.Most = 5 * nexus.Dollar
		if got := estimatetext.DescribeEstimate(e).String(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
