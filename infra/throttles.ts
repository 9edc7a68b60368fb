/**
 * Prints what closes every method setting of a stage, or gives each its own rate back (docs/operating.md). A method setting of
 * its own overrides the one of all methods, so closing only that one leaves some endpoints open.
 */
import { text } from 'node:stream/consumers'
import { type Command, runCommand, UsageError } from './command.ts'

/** A stage as `aws apigateway get-stage` prints it. */
export interface Stage {
  methodSettings?: Record<string, { throttlingRateLimit?: number; throttlingBurstLimit?: number }>
}

export interface PatchOperation {
  op: 'replace'
  path: string
  value: string
}

const ALL = '*/*'

/** Returns the operations for `aws apigateway update-stage`. Throws if they would not close or open the whole stage. */
export function throttlesOf({ methodSettings = {} }: Stage, action: 'close' | 'open'): PatchOperation[] {
  const { throttlingRateLimit: rate } = methodSettings[ALL] ?? {}
  if (rate === undefined)
    throw new Error('the stage has no throttle for all methods, so methods without their own throttle would stay open')
  if (rate === 0) throw new Error('the stage was read while it was closed: its own rates are not known')
  return Object.entries(methodSettings).flatMap(([path, { throttlingRateLimit = 0, throttlingBurstLimit = 0 }]) => {
    const [most, burst] = action === 'open' ? [throttlingRateLimit, throttlingBurstLimit] : [0, 0]
    const operation = (limit: string, value: number): PatchOperation => ({
      op: 'replace',
      path: `/${path}/throttling/${limit}`,
      value: String(value),
    })
    return [operation('rateLimit', most), operation('burstLimit', burst)]
  })
}

const COMMAND = {
  call: 'npm run throttles',
  about: `Prints the patch operations that close every method setting of a stage, or open each with its own rate. Reads the
stage, as \`aws apigateway get-stage\` printed it before it was closed, from standard input.`,
  words: 'close|open',
  options: {},
} as const satisfies Command

if (import.meta.main) {
  await runCommand(COMMAND, async (_, [action, ...more]) => {
    if ((action !== 'close' && action !== 'open') || more.length > 0) throw new UsageError('close or open?')
    process.stdout.write(`${JSON.stringify(throttlesOf(JSON.parse(await text(process.stdin)), action))}\n`)
  })
}
