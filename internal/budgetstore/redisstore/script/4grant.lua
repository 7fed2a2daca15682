-- Grants: large vectors in the order in which they came, each whole, which collect a part of the refill of all their
-- budgets; and what small calls need, divided by max-min among the drawers that ask.

local function has(x, of) return x > TRIFLE * of end

local function aloft(b, l)
  local others = b.asking - (l and l.need > 0 and 1 or 0)
  return others > 0 and ALOFT * rate(b) or 0
end

local function take(b, l, x)
  b.L, b.H, l.g = b.L - x, b.H + x, l.g + x
end

-- collect has a vector collect on its budgets where none that came before does, and says whether it does so on all.
local function collect(id, r, vector, lines)
  local all = true
  for _, part in ipairs(vector.parts) do
    local b = lines[part.line].b
    if b.own == nil or b.own == id or acct.v - b.seen > STALE or b.ticket > r.ticket then
      if b.own ~= id then b.own, b.ticket = id, r.ticket end
      b.seen, b.cost, b.share = acct.v, math.min(part.units, b.B), vector.share or 0.5
    else
      all = false
    end
  end
  return all
end

-- goes says whether a vector can be granted: what it collected suffices, or what is there beside what others collect.
local function goes(id, vector, lines)
  local whole = true
  for _, part in ipairs(vector.parts) do
    local b, l = lines[part.line].b, lines[part.line].l
    local c = math.min(part.units, b.B)
    if b.L + TRIFLE * b.B < c or b.born + HOLD > acct.v then return false end
    if b.own ~= id or b.e + TRIFLE * b.B < c then
      local kept = aloft(b, l)
      if b.own ~= id then kept = kept + b.e end
      if b.L - c < kept then whole = false end
    end
  end
  return whole
end

-- vectors grants the large calls of a draw, from the first that was not granted yet. It says whether one waits for what
-- drawers have in hand.
local function vectors(id, r, req, lines)
  local waits = false
  for i = 1, math.min(#req.vectors, MAX_BULKS) do
    if req.bulks + i > r.bulks then
      local vector = req.vectors[i]
      if r.waits ~= r.bulks + 1 then
        r.waits, acct.tickets = r.bulks + 1, acct.tickets + 1
        r.ticket = acct.tickets
      end
      collect(id, r, vector, lines)
      if not goes(id, vector, lines) then
        for _, part in ipairs(vector.parts) do
          local b = lines[part.line].b
          waits = waits or math.min(part.units, b.B) > room(b)
        end
        return waits
      end
      for _, part in ipairs(vector.parts) do
        local b, l = lines[part.line].b, lines[part.line].l
        local c = math.min(part.units, b.B)
        take(b, l, c)
        l.bulk = l.bulk + c
        if b.own == id then b.own, b.e = nil, 0 end
      end
      r.bulks = r.bulks + 1
    end
  end
  for _, x in ipairs(lines) do
    if x.b.own == id then x.b.own, x.b.e = nil, 0 end
  end
  return waits
end

-- part is what a drawer's small calls may have of the refill: an equal part, or what the others do not need.
local function part(b, l)
  local r = rate(b)
  return math.min(r, math.max(r / math.max(1, b.asking), r - (b.needs - l.need)))
end

local function small(b, l, want)
  local fair = part(b, l)
  l.part = math.min(l.part + fair * (acct.v - l.at), math.max(fair * CARRY, want.small))
  l.at = acct.v
  if b.born + HOLD > acct.v then return end
  local free = b.L - b.e
  local x = math.min(want.want - l.g, free, math.max(l.part, free - aloft(b, l)))
  if b.slots then
    x = math.floor(x)
  else
    x = math.min(x, math.max(3 * b.R, want.small) - (held(l) - l.bulk))
  end
  if has(x, b.B) then
    take(b, l, x)
    l.part = math.max(0, l.part - x)
  end
end

-- tell works out what the drawer may spend when it hears nothing any longer: an equal part of half the rate, but together
-- with what others may go by never more than half.
local function tell(b, l)
  local half = b.slots and b.B / 2 or b.R / 2
  local free = half - (b.slots and b.burst or b.left) - b.told
  local own = reserved(l)
  local share = math.max(0, math.min((free + b.told) / math.max(1, acct.heard), own + free))
  if b.slots then share = math.floor(share) end
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
