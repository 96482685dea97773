#!/usr/bin/env python3
import getpass
from cloudify import ctx

ctx.instance.runtime_properties["owner"] = getpass.getuser()
