import { providers } from '../stored/fixtures.ts'
import { describeVerbs } from '../stored/verbs.ts'

describeVerbs(providers)
