// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

// pprof_facts reads a pprof profile with the format owner's own Go package, checks
// it with profile.CheckValid, and prints what it holds as one JSON object, so that a
// test in any language can assert on it.
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go build -o pprof_facts pprof_facts.go
//	pprof_facts profile.pb.gz
//	pprof_facts -stacks profile.pb.gz
//
// Needs Debian's golang-go and golang-github-google-pprof-dev. It exits 1 with one
// line on standard error when the file is not a valid profile.
//
// The object:
//
//	sample_types  [{type, unit}]            in file order
//	period        {type, unit, value}       absent when the file has none
//	time_nanos, duration_nanos
//	samples       number of samples
//	max_depth     deepest stack
//	totals        {type: sum}
//	flat, cum     {type: {function: sum}}   leaf / anywhere in the stack (once a stack)
//	lines         {type: {"file:line": sum}} leaf lines
//	labels        {key: {value: {type: sum}}} string labels and number labels alike
//	num_units     {key: [unit]}
//	strings_bad   strings that are not valid UTF-8
//
// With -stacks also, for what sums can't tell:
//
//	frames        [[name, file, line, first line of the function]]
//	stacks        [{frames: [indices, leaf first], labels: {key: [values]}, values: {type: value}}]
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/google/pprof/profile"
)

// listStacks gives every sample as it is, with its frames by number.
func listStacks(p *profile.Profile) ([][]interface{}, []map[string]interface{}) {
	type frame struct {
		name, file  string
		line, start int64
	}
	numbers := map[frame]int{}
	frames := [][]interface{}{}
	stacks := []map[string]interface{}{}
	for _, s := range p.Sample {
		path := []int{}
		for _, l := range s.Location {
			for _, line := range l.Line {
				f := frame{line: line.Line}
				if line.Function != nil {
					f.name, f.file, f.start = line.Function.Name, line.Function.Filename, line.Function.StartLine
				}
				n, known := numbers[f]
				if !known {
					n = len(frames)
					numbers[f] = n
					frames = append(frames, []interface{}{f.name, f.file, f.line, f.start})
				}
				path = append(path, n)
			}
		}
		labels := map[string][]string{}
		for key, vals := range s.Label {
			labels[key] = append(labels[key], vals...)
		}
		for key, vals := range s.NumLabel {
			for _, v := range vals {
				labels[key] = append(labels[key], strconv.FormatInt(v, 10))
			}
		}
		values := sums{}
		for k, t := range p.SampleType {
			values[t.Type] += s.Value[k]
		}
		stacks = append(stacks, map[string]interface{}{"frames": path, "labels": labels, "values": values})
	}
	return frames, stacks
}

type sums map[string]int64

func add(into map[string]sums, outer, inner string, v int64) {
	if into[outer] == nil {
		into[outer] = sums{}
	}
	into[outer][inner] += v
}

func main() {
	withStacks := len(os.Args) == 3 && os.Args[1] == "-stacks"
	if len(os.Args) != 2 && !withStacks {
		fmt.Fprintln(os.Stderr, "usage: pprof_facts [-stacks] PROFILE")
		os.Exit(2)
	}
	f, err := os.Open(os.Args[len(os.Args)-1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	p, err := profile.Parse(f)
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "invalid profile:", err)
		os.Exit(1)
	}

	totals := sums{}
	flat, cum, lines := map[string]sums{}, map[string]sums{}, map[string]sums{}
	labels := map[string]map[string]sums{}
	units := map[string]map[string]bool{}
	bad := map[string]bool{}
	note := func(s string) string {
		if !utf8.ValidString(s) {
			bad[fmt.Sprintf("%q", s)] = true
		}
		return s
	}
	maxDepth := 0
	var types []map[string]string
	for _, t := range p.SampleType {
		types = append(types, map[string]string{"type": t.Type, "unit": t.Unit})
		totals[t.Type] = 0
	}
	for _, s := range p.Sample {
		if len(s.Location) > maxDepth {
			maxDepth = len(s.Location)
		}
		var leaf, leafLine string
		seen := map[string]bool{}
		for i, l := range s.Location {
			for j, line := range l.Line {
				name, file := "", ""
				if line.Function != nil {
					name, file = note(line.Function.Name), note(line.Function.Filename)
				}
				if i == 0 && j == 0 {
					leaf, leafLine = name, file+":"+strconv.FormatInt(line.Line, 10)
				}
				seen[name] = true
			}
		}
		for k, t := range p.SampleType {
			v := s.Value[k]
			totals[t.Type] += v
			add(flat, t.Type, leaf, v)
			add(lines, t.Type, leafLine, v)
			for name := range seen {
				add(cum, t.Type, name, v)
			}
			put := func(key, val string) {
				if labels[key] == nil {
					labels[key] = map[string]sums{}
				}
				add(labels[key], val, t.Type, v)
			}
			for key, vals := range s.Label {
				for _, val := range vals {
					put(note(key), note(val))
				}
			}
			for key, vals := range s.NumLabel {
				for i, val := range vals {
					put(note(key), strconv.FormatInt(val, 10))
					if u := s.NumUnit[key]; i < len(u) && u[i] != "" {
						if units[key] == nil {
							units[key] = map[string]bool{}
						}
						units[key][u[i]] = true
					}
				}
			}
		}
	}
	list := func(m map[string]bool) []string {
		out := []string{}
		for k := range m {
			out = append(out, k)
		}
		sort.Strings(out)
		return out
	}
	unitLists := map[string][]string{}
	for k, m := range units {
		unitLists[k] = list(m)
	}
	facts := map[string]interface{}{
		"sample_types": types, "samples": len(p.Sample), "max_depth": maxDepth,
		"time_nanos": p.TimeNanos, "duration_nanos": p.DurationNanos,
		"totals": totals, "flat": flat, "cum": cum, "lines": lines,
		"labels": labels, "num_units": unitLists, "strings_bad": list(bad),
		"functions": len(p.Function), "locations": len(p.Location), "comments": p.Comments,
	}
	if withStacks {
		facts["frames"], facts["stacks"] = listStacks(p)
	}
	if p.PeriodType != nil {
		facts["period"] = map[string]interface{}{"type": p.PeriodType.Type, "unit": p.PeriodType.Unit, "value": p.Period}
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", " ")
	if err := enc.Encode(facts); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
