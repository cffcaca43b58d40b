#!/usr/bin/env bash
# Twenty thousand small files in four hundred folders: whatever costs time per file and per agent shows here.
. "$(dirname "$0")/shape.sh"

new "$R"; cd "$R"
python3 - <<'P' | git fast-import --quiet
import sys
w=sys.stdout.write; t=1700000000
n=20000
for i in range(n):
    b='file %d\n'%i+('x'*(i%97))+'\n'; w('blob\nmark :%d\ndata %d\n%s\n'%(i+1,len(b),b))
w('commit refs/heads/main\nmark :%d\ncommitter Case <keeper@example.org> %d +0000\ndata 4\nbulk\n'%(n+1,t))
for i in range(n): w('M 100644 :%d d%03d/f%05d.txt\n'%(i+1,i%400,i))
w('\n'); prev=n+1
for c in range(199):
    b='rev %d\n'%c; m=prev+1
    w('commit refs/heads/main\nmark :%d\ncommitter Case <keeper@example.org> %d +0000\ndata 5\nrev%02d\nfrom :%d\nM 100644 inline d%03d/f%05d.txt\ndata %d\n%s\n'%(m,t+60*(c+1),c%100,prev,c%400,c,len(b),b)); prev=m
P
git reset -q --hard main
holds sh -c '[ "$(git ls-files | wc -l)" = 20000 ]'
