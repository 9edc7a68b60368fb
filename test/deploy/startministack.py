"""
Starts MiniStack, and adds what its version 1.5.33 lacks of an API that an OpenAPI document describes: methods for ANY,
gateway responses, binary media types, the roles with which API Gateway invokes functions and authorizers, and updates that
keep the ID of the API. API Gateway has all of them. It asks for the right to update an alias. It also adds Fn::Split in conditions, which CloudFormation has, weights of
aliases, which Lambda has, and the part of CodeDeploy that shifts an alias and goes back when an alarm rings. ROLLOUTS has
the logical IDs of the aliases that have two versions for a while, as JSON; others are shifted at once. FUNCTION_CLOCK_SLOWER is how many
times slower the clocks of the functions run (slowclock.ts), which then have so many times their time.
"""
import json
import os
import random
import time

from ministack.app import main
from ministack.core import iam_actions
from ministack.core import iam_evaluator as iam
from ministack.core import lambda_runtime
from ministack.services import apigateway_v1 as gateway
from ministack.services import cloudformation, cloudwatch, lambda_svc
from ministack.services import iam as roles
from ministack.services.cloudformation import changesets, engine, handlers, provisioners, stacks

ANY = "x-amazon-apigateway-any-method"
gateway._OPENAPI_HTTP_METHODS.add(ANY)
import_rest_api = gateway._import_rest_api
import_operation = gateway._import_operation
update_rest_api = provisioners._apigw_rest_api_update
invoke_function = gateway._invoke_lambda_proxy_v1
invoke_authorizer = gateway._invoke_authorizer_lambda
evaluate_conditions = engine._evaluate_conditions
lambda_action = iam_actions._lambda_action


def action_of_lambda(method, path):
    """Takes the update of an alias for what it is: the emulator asks for lambda:ListAliases."""
    return "UpdateAlias" if method == "PUT" and "/aliases/" in path else lambda_action(method, path)


iam_actions._lambda_action = action_of_lambda


def import_with_credentials(api_id, resource_id, method, operation, *others):
    name = "ANY" if method == ANY.upper() else method
    import_operation(api_id, resource_id, name, operation, *others)
    imported = gateway._resources[api_id][resource_id]["resourceMethods"][name]["methodIntegration"]
    imported["credentials"] = operation["x-amazon-apigateway-integration"].get("credentials")


def import_whole(document, base=None):
    api_id = import_rest_api(document, base)
    for kind, response in document.get("x-amazon-apigateway-gateway-responses", {}).items():
        gateway._put_gateway_response(api_id, kind, response)
    api = gateway._rest_apis[api_id]
    api["binaryMediaTypes"] = document.get("x-amazon-apigateway-binary-media-types", [])
    api["minimumCompressionSize"] = document.get("x-amazon-apigateway-minimum-compression-size")
    return api_id


def update_in_place(api_id, old, new, stack, logical_id=None):
    """Imports into a new API, and moves what the document describes to the API that keeps its ID and stages."""
    if new.get("Body") != old.get("Body"):
        imported = import_whole(new["Body"], {})
        for store in (gateway._resources, gateway._authorizers_v1, gateway._gateway_responses):
            store[api_id] = store[imported]
        gateway._rest_apis[api_id].update({**gateway._rest_apis[imported], "id": api_id})
        gateway._delete_rest_api(imported)
    return update_rest_api(api_id, {**old, "Body": new.get("Body")}, new, stack, logical_id)


def may_invoke(role_arn, uri, account):
    """Reports whether API Gateway may assume the role, and the role may invoke the function."""
    name = (role_arn or "").rpartition("/")[2]
    role = roles._roles.get_scoped(account, None, name)
    if role is None or "apigateway.amazonaws.com" not in str(role["AssumeRolePolicyDocument"]):
        return False
    context = iam.EvalContext(
        principal_arn=role_arn,
        principal_type="AssumedRole",
        principal_account=account,
        action="lambda:InvokeFunction",
        resource_arn=uri.partition("/functions/")[2].rpartition("/")[0],
        region="",
    )
    return iam.evaluate(context, iam._gather_role_policies(name, account)).decision == "Allow"


async def invoke_with_role(integration, *others, owner_account_id=None, **named):
    if not may_invoke(integration.get("credentials"), integration["uri"], owner_account_id):
        return gateway._gw_error("API_CONFIGURATION_ERROR", "Internal server error")
    return await invoke_function(integration, *others, owner_account_id=owner_account_id, **named)


async def authorize_with_role(authorizer, event, account, region):
    if not may_invoke(authorizer.get("authorizerCredentials"), authorizer["authorizerUri"], account):
        return None
    return await invoke_authorizer(authorizer, event, account, region)


def split(value, params):
    """Replaces each Fn::Split of a parameter by its list."""
    if isinstance(value, list):
        return [split(one, params) for one in value]
    if not isinstance(value, dict):
        return value
    if "Fn::Split" in value:
        separator, text = value["Fn::Split"]
        return params.get(text["Ref"], {}).get("Value", "").split(separator)
    return {key: split(one, params) for key, one in value.items()}


def evaluate_with_split(template, params):
    conditions = split(template.get("Conditions", {}), params)
    return evaluate_conditions({**template, "Conditions": conditions}, params)


def route(function, qualifier):
    """Sends a request for an alias to its other version, by the weight of that."""
    alias = (function or {}).get("aliases", {}).get(qualifier, {})
    for version, weight in alias.get("RoutingConfig", {}).get("AdditionalVersionWeights", {}).items():
        if random.random() < weight:
            shifted.append(version)
            return find_version(function, version)
    return find_version(function, qualifier)


def create_named(logical_id, props, stack_name):
    return f"{stack_name}-{logical_id}", {}


def update_named(physical_id, old, new, stack_name, logical_id=None):
    return physical_id, {}


def delete_named(physical_id, props):
    pass


def rings(stack_name, logical_id):
    """Reports whether an alarm of the deployment group of an alias rings."""
    resources = cloudformation._stacks[stack_name]["_resources"]
    group = resources.get(logical_id.removesuffix("Alias") + "Rollout", {}).get("Properties", {})
    names = [alarm["Name"] for alarm in group.get("AlarmConfiguration", {}).get("Alarms", [])]
    return any(cloudwatch._alarms.get(name, {}).get("StateValue") == "ALARM" for name in names)


def shift(physical_id, old, new, stack_name, logical_id=None):
    """
    Sends a part of the requests to the new version, more than CodeDeploy in less time: until it has received forty, which no
    busy machine changes, or until an alarm rings. Then sends all.
    """
    weights = [{"FunctionVersion": new.get("FunctionVersion"), "FunctionWeight": 0.5}]
    both = {**old, "RoutingConfig": {"AdditionalVersionWeights": weights}}
    if logical_id in gradual and old.get("FunctionVersion") != new.get("FunctionVersion"):
        shifted.clear()
        update_alias(physical_id, old, both, stack_name, logical_id)
        while len(shifted) < 40:
            if rings(stack_name, logical_id):
                update_alias(physical_id, both, old, stack_name, logical_id)
                raise ValueError("CodeDeploy stopped the deployment, because an alarm rings")
            time.sleep(0.05)
    return update_alias(physical_id, both, new, stack_name, logical_id)


class SlowWorker(lambda_runtime.Worker):
    def __init__(self, func_name, config, code_zip):
        super().__init__(func_name, {**config, "Timeout": config.get("Timeout", 3) * slower}, code_zip)


def runs_on_worker_thread(resource_type):
    return resource_type == "AWS::Lambda::Alias" or blocks(resource_type)


gradual = json.loads(os.environ.get("ROLLOUTS", "[]"))
slower = int(os.environ.get("FUNCTION_CLOCK_SLOWER", "1"))
shifted = []
find_version = lambda_svc._effective_func_record_for_qualifier
update_alias = provisioners._RESOURCE_HANDLERS["AWS::Lambda::Alias"]["update"]
blocks = stacks._runs_on_worker_thread
lambda_svc._effective_func_record_for_qualifier = route
lambda_runtime.Worker = SlowWorker
stacks._runs_on_worker_thread = runs_on_worker_thread
provisioners._RESOURCE_HANDLERS["AWS::Lambda::Alias"]["update"] = shift
for kind in (
    "AWS::CodeDeploy::Application",
    "AWS::CodeDeploy::DeploymentGroup",
    # No test deploys them: the emulator must only know that they exist.
    "AWS::Backup::BackupSelection",
    "AWS::WAFv2::WebACLAssociation",
):
    provisioners._RESOURCE_HANDLERS[kind] = {
        "create": create_named,
        "update": update_named,
        "delete": delete_named,
    }
for module in (changesets, engine, handlers, stacks):
    module._evaluate_conditions = evaluate_with_split
gateway._import_operation = import_with_credentials
gateway._import_rest_api = import_whole
gateway._invoke_lambda_proxy_v1 = invoke_with_role
gateway._invoke_authorizer_lambda = authorize_with_role
provisioners._RESOURCE_HANDLERS["AWS::ApiGateway::RestApi"]["update"] = update_in_place

main()
