package trust

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// TrustOnFirstUse returns the states of items from outside of the repository, such as the tools of
// a server: items whose names begin with the prefix its. The first content is trusted, because a
// person agreed to its source. Later changes wait until a person agrees to them with
// [Store.RecordTrust].
func (b *Store) TrustOnFirstUse(ctx context.Context, root, its string, items []TrustItem) ([]ItemState, error) {
	p, err := b.readStoreFile()
	if err != nil {
		return nil, err
	}
	if isUnchanged(p.Met[repositoryID(root)], its, items) {
		return b.ItemStates(root, items)
	}
	err = b.updateStore(ctx, func(p *trustFileContent) {
		id := repositoryID(root)
		if p.Met == nil {
			p.Met = map[string]map[string]string{}
		}
		if p.Met[id] == nil {
			p.Met[id] = map[string]string{}
		}
		met, first := p.Met[id], true
		for name := range met {
			first = first && !strings.HasPrefix(name, its)
		}
		maps.DeleteFunc(met, func(name, _ string) bool { return strings.HasPrefix(name, its) && name != its })
		met[its] = "" // it counts as seen, even without items
		for _, item := range items {
			met[item.Name] = item.Text
		}
		if !first {
			return
		}
		if p.Trusted[id] == nil {
			p.Trusted[id] = map[string]string{}
		}
		for _, item := range items {
			if _, had := p.Trusted[id][item.Name]; !had { // an earlier agreement counts
				p.Trusted[id][item.Name] = item.Text
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return b.ItemStates(root, items)
}

// isUnchanged reports whether the items are the same as last time.
func isUnchanged(met map[string]string, its string, items []TrustItem) bool {
	if _, had := met[its]; !had {
		return false
	}
	n := 0
	for name := range met {
		if strings.HasPrefix(name, its) {
			n++
		}
	}
	return n == len(items)+1 && !slices.ContainsFunc(items, func(i TrustItem) bool {
		text, had := met[i.Name]
		return !had || text != i.Text
	})
}

// AgreedItems returns the agreed items whose names begin with the prefix its, with their content
// at that time, and whether their source was ever seen.
func (b *Store) AgreedItems(root, its string) (items []TrustItem, met bool, err error) {
	p, err := b.readStoreFile()
	if err != nil {
		return nil, false, err
	}
	_, met = p.Met[repositoryID(root)][its]
	for name, text := range p.Trusted[repositoryID(root)] {
		if strings.HasPrefix(name, its) {
			items = append(items, TrustItem{name, text})
		}
	}
	slices.SortStableFunc(items, func(a, b TrustItem) int { return strings.Compare(a.Name, b.Name) })
	return items, met, nil
}

// LastSeenItems returns the last seen items from outside of the repository, ordered by name.
func (b *Store) LastSeenItems(root string) ([]TrustItem, error) {
	p, err := b.readStoreFile()
	if err != nil {
		return nil, err
	}
	var items []TrustItem
	for name, text := range p.Met[repositoryID(root)] {
		if text != "" {
			items = append(items, TrustItem{name, text})
		}
	}
	slices.SortStableFunc(items, func(a, b TrustItem) int { return strings.Compare(a.Name, b.Name) })
	return items, nil
}
