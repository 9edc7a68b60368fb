/**
 * Lists checks that depend on API Gateway itself. The tests of test/deploy run all of them on the emulator: it must pass
 * those marked as emulated and fail the others, so that no check is forgotten. test/server/smoke.test.ts runs all of them
 * on the local gateway.
 */
import { answers } from './checks/answers.ts'
import type { Check } from './checks/check.ts'
import { exchanges } from './checks/exchanges.ts'
import { paths } from './checks/paths.ts'
import { services } from './checks/services.ts'
import { sources } from './checks/sources.ts'
import { streams } from './checks/streams.ts'

export const checks: readonly Check[] = [...answers, ...paths, ...sources, ...exchanges, ...services, ...streams]
