import { useFunctions } from '../../support/functions.ts'
import { accessKeys } from '../stored/fixtures.ts'
import { describeGet } from '../stored/get.ts'

const functions = useFunctions()

describeGet(functions, accessKeys)
