/** Tests that a restore closes every method setting of the template, and gives each its own rate back. */
import { expect, test } from 'vitest'
import { type Stage, throttlesOf } from '../../infra/throttles.ts'
import { usePackagedTemplate } from '../support/packagedtemplate.ts'

const packaged = usePackagedTemplate()

/** Returns the deployed stage of the template, as API Gateway describes it. */
function stageOf(): Required<Stage> {
  const settings: Record<string, unknown>[] =
    packaged.ofType('AWS::ApiGateway::Stage')[0]?.[1].Properties.MethodSettings
  const entries = settings.map(({ HttpMethod, ResourcePath, ThrottlingRateLimit, ThrottlingBurstLimit }) => [
    `${String(ResourcePath).slice(1)}/${HttpMethod}`,
    { throttlingRateLimit: Number(ThrottlingRateLimit), throttlingBurstLimit: Number(ThrottlingBurstLimit) },
  ])
  return { methodSettings: Object.fromEntries(entries) }
}

/** Returns the limits of a stage after the operations. */
function after(stage: Stage, ...actions: ('close' | 'open')[]): Stage['methodSettings'] {
  const settings = structuredClone(stage.methodSettings ?? {})
  for (const { path, value } of actions.flatMap((action) => throttlesOf(stage, action))) {
    const [, key = '', limit] = /^\/(.+)\/throttling\/(rate|burst)Limit$/.exec(path) ?? []
    Object.assign(settings[key] ?? {}, {
      [limit === 'rate' ? 'throttlingRateLimit' : 'throttlingBurstLimit']: Number(value),
    })
  }
  return settings
}

// threat: storage-11
test('every method setting of the template is closed, and opened with its own rates', () => {
  const stage = stageOf()
  expect(Object.keys(stage.methodSettings)).toEqual(
    expect.arrayContaining([
      '*/*',
      '~1kubernetes~1management~1oauth2~1token/POST',
      '~1kubernetes~1management~1apis~1authorization.k8s.io~1v1~1subjectaccessreviews/POST',
      '~1console~1{proxy+}/GET',
    ]),
  )
  const closed = { throttlingRateLimit: 0, throttlingBurstLimit: 0 }
  expect(Object.values(after(stage, 'close') ?? {})).toEqual(Object.keys(stage.methodSettings).map(() => closed))
  expect(after(stage, 'close', 'open')).toEqual(stage.methodSettings)
})

// threat: storage-11
test('a stage that was read when it was closed, or has no limit of all methods, is refused', () => {
  const { methodSettings } = stageOf()
  expect(() => throttlesOf({ methodSettings: after({ methodSettings }, 'close') ?? {} }, 'open')).toThrow(
    'while it was closed',
  )
  const { '*/*': _, ...own } = methodSettings
  expect(() => throttlesOf({ methodSettings: own }, 'close')).toThrow('no throttle for all methods')
})
