/** Runs kubectl against the example of the engine, in memory. */
import { testExample } from './examplesuite.ts'

testExample(async () => ({}))
