// Package textindex searches short texts by their words, the best match first: an SQLite table
// with full-text search (FTS5, BM25) in memory.
//
// It is built from the texts each time and never written to a file, so that there is nothing to
// synchronize, migrate or repair. Ten thousand texts of a few lines take about a quarter of a
// second.
package textindex

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// IndexedText is a searchable text.
type IndexedText struct {
	Name string
	Body string
	Tags string // words that weigh more than those of the body
}

// TextSearchHit is a text that matches a search.
type TextSearchHit struct {
	Name  string
	Match float64 // from 0 to 1; 1 is the best of a search
}

// TextIndex is an index of texts. Many goroutines may use it.
type TextIndex struct{ db *sql.DB }

// tagWeight is the weight of a word in the tags.
const tagWeight = 4.0

// NewTextIndex builds an index of texts.
func NewTextIndex(ctx context.Context, all []IndexedText) (*TextIndex, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection has a database of its own
	x := &TextIndex{db}
	if err := x.insertTexts(ctx, all); err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

func (x *TextIndex) insertTexts(ctx context.Context, all []IndexedText) error {
	const table = `create virtual table text using fts5 (name unindexed, body, tags,
		tokenize = "porter unicode61 remove_diacritics 2 tokenchars '_'")`
	if _, err := x.db.ExecContext(ctx, table); err != nil {
		return err
	}
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it has nothing to do
	insert, err := tx.PrepareContext(ctx, "insert into text values (?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close() //nolint:errcheck // it ends with the transaction
	for _, t := range all {
		if _, err := insert.ExecContext(ctx, t.Name, t.Body, t.Tags); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Search returns at most n texts with at least one of the words, the best first. Words are never
// interpreted as search operators.
func (x *TextIndex) Search(ctx context.Context, words []string, n int) (hits []TextSearchHit, err error) {
	var terms []string
	seen := map[string]bool{}
	for _, w := range words {
		if w = strings.ReplaceAll(w, `"`, ""); w != "" && !strings.ContainsRune(w, 0) && !seen[w] {
			seen[w] = true
			terms = append(terms, `"`+w+`"`)
		}
	}
	if len(terms) == 0 {
		return nil, nil
	}
	const search = "select name, -bm25(text, 0.0, 1.0, ?) from text where text match ? order by 2 desc, name limit ?"
	rows, err := x.db.QueryContext(ctx, search, tagWeight, strings.Join(terms, " OR "), n)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var h TextSearchHit
		if err := rows.Scan(&h.Name, &h.Match); err != nil {
			return nil, err
		}
		hits = append(hits, h)
	}
	scaleMatches(hits)
	return hits, rows.Err()
}

// scaleMatches makes the best match 1. BM25 is almost zero for words that most texts have, which must not
// mean that no text is found.
func scaleMatches(hits []TextSearchHit) {
	if len(hits) == 0 {
		return
	}
	best := max(hits[0].Match, 1e-9)
	for i := range hits {
		hits[i].Match = max(hits[i].Match, 1e-9) / best
	}
}

// Close frees the memory.
func (x *TextIndex) Close() error { return x.db.Close() }
