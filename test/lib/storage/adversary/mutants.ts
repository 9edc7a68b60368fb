/** Lists the rules of the protocol, each with the edit that removes it. The schedules must detect every edit. */
import type { Edit } from '../../../support/editedmodules.ts'
import { counting, expiring, lagging, making, type Profile, recreating } from './schedule.ts'

export interface Mutant {
  without: string
  /** The schedules that detect it. Default: plain ones. */
  profile?: Profile
  /** The first seed, if detection is rare: one that detected it once. */
  seed?: number
  edits: readonly Edit[]
}

/**
 * recovery.test.ts covers three more rules, which schedules need too rarely: the deadline of voids, the slot that proves
 * the tombstones of an old list, and voids only above `settled` in the rewind of recreated names.
 */
export const mutants: readonly Mutant[] = [
  {
    without: 'waiting for gaps: lists end before the first one',
    edits: [
      {
        file: 'protocol/log.ts',
        from: 'const top = Math.max(highestRevision(slots, lo), must)',
        to: 'let top = lo\n  while (slots.has(top + 1)) top++',
      },
    ],
  },
  {
    without: 'filling: lists are at the counter',
    edits: [
      {
        file: 'protocol/log.ts',
        from: 'const top = Math.max(highestRevision(slots, lo), must)',
        to: 'const top = hi\n  if (hi > 0) return { slots, top }',
      },
    ],
  },
  {
    without: 'comparing a creation with the tombstone it meets',
    edits: [{ file: 'protocol/commit.ts', from: "{ type: 'vacant', rev }", to: "{ type: 'vacant', rev: 1e15 }" }],
  },
  {
    without: 'tombstones in the rewind',
    edits: [
      {
        file: 'protocol/list.ts',
        from: '.filter((row) => rvOf(row) > snapshot.rv)',
        to: '.filter((row) => rvOf(row) > snapshot.rv && row.gone !== true)',
      },
    ],
  },
  {
    without: 'the overlay',
    edits: [
      {
        file: 'protocol/list.ts',
        from: 'return entry && entry.rev > rvOf(row) ? entry.state',
        to: 'return entry && row === null ? entry.state',
      },
    ],
  },
  {
    without: 'the rewind',
    edits: [
      {
        file: 'protocol/list.ts',
        from: 'if (rvOf(row) > rv) return past()',
        to: 'if (rvOf(row) > rv) return rowState(row)',
      },
    ],
  },
  {
    without: 'looking at the rows before settling',
    edits: [
      {
        file: 'protocol/revision.ts',
        from: 'to > settled && (await areVisible(context, expected))',
        to: 'to > settled',
      },
      { file: 'protocol/revision.ts', from: '!(await areVisible(context, expected))', to: 'since < 0' },
    ],
  },
  {
    without: 'looking at the copies in index partitions before settling',
    seed: 25,
    edits: [{ file: 'protocol/revision.ts', from: '...partitions.map(one(false)), ...left.map(one(true))', to: '' }],
  },
  {
    without: 'resolving lost answers by the slot',
    edits: [
      { file: 'protocol/commit.ts', from: "if (there?.id === planned.write.id) return { type: 'committed' }", to: '' },
    ],
  },
  {
    without: 'voiding the own slot before trying again',
    seed: 173,
    edits: [
      {
        file: 'protocol/commit.ts',
        from: 'await voidSlot(context, resource, rev, taken)',
        to: 'await context.items.get(slotKey(resource, rev))',
      },
    ],
  },
  {
    without: 'the write-once condition of slots',
    seed: 39,
    edits: [
      {
        file: 'protocol/commit.ts',
        from: "      when: { type: 'absent' },\n    },\n    ...(change",
        to: '    },\n    ...(change',
      },
    ],
  },
  {
    without: 'the condition on the row that was read',
    edits: [
      {
        file: 'protocol/commit.ts',
        from: "when: current ? { type: 'unchanged', rv: current.rv } : { type: 'vacant', rev },",
        to: "...(!current && { when: { type: 'vacant', rev } }),",
      },
    ],
  },
  {
    without: 'the condition on the maker',
    profile: making,
    edits: [
      {
        file: 'protocol/commit.ts',
        from: "when: { type: 'has', attributes, lacks }",
        to: "when: { type: 'has', attributes: {}, lacks: attributes.generation ? lacks : [] }",
      },
    ],
  },
  {
    without: 'the conditions of companions',
    profile: counting,
    edits: [{ file: 'protocol/commit.ts', from: "type: 'has',\n  attributes,", to: "type: 'has',\n  attributes: {}," }],
  },
  {
    without: 'running a mutation again after the condition of a companion failed',
    profile: counting,
    edits: [
      {
        file: 'protocol/commit.ts',
        from: 'found.some((index) => hasRaceCondition(companions[index])) ? undefined : found[0]',
        to: 'found[0]',
      },
    ],
  },
  {
    without: 'patience of a watch: it passes gaps',
    edits: [
      {
        file: 'protocol/changes.ts',
        from: 'if (item === undefined) return batch\n',
        to: 'if (item === undefined) {\n      batch.rv = rev\n      continue\n    }\n',
      },
    ],
  },
  {
    without: 'a second read when a poll finds an earlier revision than its own',
    edits: [{ file: 'protocol/revision.ts', from: ' && recent.n >= since', to: '' }],
  },
  {
    without: 'the age of what a poll has read',
    profile: lagging,
    edits: [{ file: 'protocol/revision.ts', from: ' && recent.asOf - recent.at <= stale', to: '' }],
  },
  {
    without: 'tombstones in the index partitions that an object leaves',
    edits: [{ file: 'protocol/commit.ts', from: '...left.map((one)', to: '...left.slice(left.length).map((one)' }],
  },
  {
    without: '410 where a settled slot is missing',
    profile: lagging,
    edits: [
      {
        file: 'protocol/changes.ts',
        from: 'if (rev <= revision.settled && (item === undefined || isExpired(item, context.now()))) throw',
        to: 'if (rev < 0) throw',
      },
      { file: 'protocol/changes.ts', from: 'lo: Math.max(since, revision.settled)', to: 'lo: since' },
    ],
  },
  {
    without: 'the floor that rises when nobody has settled for hours',
    profile: expiring,
    edits: [
      {
        file: 'protocol/revision.ts',
        from: 'if (asOf - revision.at <= stale) return revision',
        to: 'if (asOf > 0) return revision',
      },
    ],
  },
  {
    without: 'the deadline of transactions',
    seed: 30,
    profile: expiring,
    edits: [{ file: 'protocol/constants.ts', from: 'writerDeadline = 10_000', to: 'writerDeadline = 1e15' }],
  },
  {
    without: 'the deadline of reads',
    seed: 744,
    profile: expiring,
    edits: [{ file: 'protocol/revision.ts', from: 'if (now() - asOf > stale) throw', to: 'if (now() < 0) throw' }],
  },
  {
    without: 'tombstones that outlive the log',
    seed: 115,
    profile: lagging,
    edits: [{ file: 'protocol/constants.ts', from: 'tombstoneSeconds = 48 * 3600', to: 'tombstoneSeconds = 60' }],
  },
  {
    without: 'the complete range in the rewind of names created anew',
    seed: 41,
    profile: recreating,
    edits: [
      {
        file: 'protocol/rewind.ts',
        from: 'if (open < rev - 1 && hasGap(links, open, rev - 1)) {',
        to: 'if (open < 0) {',
      },
      {
        file: 'protocol/rewind.ts',
        from: 'const link = await linkOf(past, one)',
        to: 'if (!links.has(one)) continue\n    const link = await linkOf(past, one)',
      },
    ],
  },
]
