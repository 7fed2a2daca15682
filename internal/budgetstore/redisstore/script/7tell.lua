-- What a drawer is told.

-- tell works out what the drawer may spend when it hears nothing any longer: an equal part of half the rate, but together
-- with what others may go by never more than half.
local function tell(b, l)
  local half = b.slots and b.B / 2 or b.R / 2
  local free = half - (b.slots and b.burst or b.left) - b.told
  local own = reserved(l)
  local share = math.max(0, math.min((free + b.told) / math.max(1, acct.heard), own + free))
  l.next, l.n = share, acct.n
  b.told = b.told + reserved(l) - own
end

-- heed notes by which share a drawer goes: the one that it was told last, once it says that it has heard of it.
local function heed(b, l, version)
  if l.n and version >= l.n and l.told ~= l.next then
    b.told = math.max(0, b.told - reserved(l) + l.next)
    l.told = l.next
  end
end

-- leave ends a drawer that spends nothing any longer and has given back what it had.
local function leave(id, r)
  r.bye, r.over = true, acct.v
  if r.heard then hush(id, r, acct.v) end
  ends(id, acct.v)
end

-- expect is what a line may expect in a second; one that needs nothing yet, as much as another of those who ask.
local function expect(b, l, want)
  if b.slots then return 0 end
  local r, sum = rate(b), 0
  for _, x in ipairs(want.claims) do sum = sum + fair(b, l, x.class) end
  if sum > 0 or l.need > 0 then return math.min(r, sum) end
  return math.max(r / math.max(1, b.asking), r - b.needs)
end

-- said is an answer's part about one line.
local function said(id, x)
  local b, l = x.b, x.l
  local out = { string.format('%.17g %.17g %.17g %.17g %.17g %d', l.g, l.next, expect(b, l, x.want), b.L, b.H, keep(id, b, l, x.want)) }
  for _, c in ipairs(x.want.claims) do
    out[#out + 1] = string.format('%.9g %.9g', l.c[c.class] and fair(b, l, c.class) or 0, c.new)
  end
  return table.concat(out, ' ')
end

