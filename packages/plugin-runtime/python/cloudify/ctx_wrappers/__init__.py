"""Files that programs copy to where their scripts run: ctx-py.py is the module `cloudify` there."""
