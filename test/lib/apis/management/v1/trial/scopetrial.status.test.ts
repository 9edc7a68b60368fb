/** Tests what the status says of the trial of a scope. */
import { expect, test } from 'vitest'
import { presentTrial } from '../../../../../../lib/apis/management/v1/trial/scopetrial.status.ts'
import { positionKey } from '../../../../../../lib/authentication/history/since.ts'

test.each([
  ['has everything', { since: 99 }, true],
  ['began while a release ran that knows no trials', { since: 101 }, false],
  ['goes on while one runs', {}, false],
])('a trial that %s says so', (_, position, complete) => {
  const scopeTrial = { scope: {}, until: '2026-12-03T10:00:00Z' }
  const items = ({ pk }: { pk: string }) => (pk === positionKey.pk ? position : { expires: 1 })
  const { scopeTrial: shown } = presentTrial({ scopeTrial }, { trial: { uid: 'u-1', since: 100 } }, new Date(0), items)
  expect(shown).toMatchObject({ refused: [], complete })
})
