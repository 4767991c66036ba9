// Package spelling measures the difference of two names, to suggest the intended one.
package spelling

import "math"

// EditDistance returns the number of letters to change, add or drop between a and b. Texts of more
// than 200 bytes are not compared.
func EditDistance(a, b string) int {
	if len(a) > 200 || len(b) > 200 {
		return math.MaxInt
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
