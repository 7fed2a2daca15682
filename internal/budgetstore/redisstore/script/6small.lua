-- Small calls and slots.

-- small grants what small calls lack: each class its part first, then what nobody is to have, as far as that goes.
local function small(b, l, want)
  if b.born + HOLD > acct.v then return end
  local most = math.min(want.want - l.g, math.max(3 * b.R, want.small) - (held(l) - l.bulk))
  local mine = kept(b)
  for pass = 1, 2 do
    for _, x in ipairs(want.claims) do
      local c, part = b.classes[x.class], l.c[x.class]
      if part then
        local free = b.L - (mine - c.e)
        local x1 = math.min(x.lack - x.new, most, free)
        if pass == 1 then
          local each = fair(b, l, x.class)
          part.part = math.min(part.part + each * (acct.v - part.at), math.max(each * CARRY, want.small))
          part.at = acct.v
          x1 = math.min(x1, part.part)
        else
          x1 = math.min(x1, free - aloft(b, l))
        end
        if has(x1, b.B) then
          take(b, l, x1)
          local e = math.min(c.e, x1)
          c.e, mine, most = c.e - e, mine - e, most - x1
          x.new, part.part = x.new + x1, math.max(0, part.part - x1)
        end
      end
    end
  end
end

-- entitled is how many slots a drawer may have.
local function entitled(b, l, want)
  local sum = 0
  for _, x in ipairs(want.claims) do
    if l.c[x.class] then sum = sum + fair(b, l, x.class) end
  end
  return math.min(sum, math.max(0, b.B - math.min(b.burst, b.B / 2)))
end

-- whole is how many of that: what does not divide evenly goes in turn, to a drawer that lacked it for some time.
local function whole(l, may)
  local most = math.ceil(may - TRIFLE)
  if l.part >= TURN and held(l) < most then return most, true end
  return math.floor(may + TRIFLE), false
end

-- slots grants whole ones. While a drawer has fewer than it may have, and none is free, the others get no more than they may
-- have and give back what they have beyond that as their calls end.
local function slots(id, b, l, want)
  local may, lack = entitled(b, l, want), math.floor(want.want - l.g)
  local lacked = l.need > 0 and (may - held(l)) * (acct.v - l.at) or -l.part
  l.part, l.at = math.max(-CREDIT, math.min(CREDIT, l.part + lacked)), acct.v
  if b.born + HOLD > acct.v then return end
  local own, turn = whole(l, may)
  local x = math.max(0, math.min(lack, math.floor(b.L + TRIFLE)))
  if b.short and b.short ~= id and acct.v - b.shortAt < RECALL then
    x = math.max(0, math.min(x, own - held(l)))
  end
  if x > 0 then take(b, l, x) end
  if x < lack and held(l) < own then
    if not b.short or b.short == id or acct.v - b.shortAt >= RECALL then
      b.short, b.shortAt, b.turn = id, acct.v, turn
    end
  elseif b.short == id then
    b.short = nil
  end
end

-- keep is how many slots a drawer is to keep, -1 if nobody waits for them.
local function keep(id, b, l, want)
  if not b.slots or not b.short or b.short == id or acct.v - b.shortAt >= RECALL then return -1 end
  local may = entitled(b, l, want)
  if b.turn and held(l) > may and l.part < 0 then return math.floor(may + TRIFLE) end
  return math.ceil(may - TRIFLE)
end

