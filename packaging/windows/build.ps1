# Builds dist\swag-studio on Windows, and an installer where Inno Setup is installed.
#
# Written without a Windows machine: never run. What is likely to need a look: the names of the Qt
# plug-ins in packaging\leave_out.py, which are those of Linux, and a signature of the programs.
#   py -3.11 -m venv .venv-package
#   .venv-package\Scripts\python -m pip install -c constraints.txt ".[package]"
#   powershell -File packaging\windows\build.ps1
$ErrorActionPreference = "Stop"
Set-Location (Join-Path $PSScriptRoot "..\..")
$python = Resolve-Path ".venv-package\Scripts\python.exe"

Remove-Item -Recurse -Force build\stage, dist\swag-studio -ErrorAction SilentlyContinue
& $python -m pip install --quiet --no-index --no-deps --no-build-isolation --target build\stage .
if ($LASTEXITCODE) { exit $LASTEXITCODE }
$env:PYTHONPATH = Join-Path (Get-Location) "build\stage"
& $python -P -m PyInstaller --noconfirm --log-level WARN `
    --workpath build\pyinstaller --distpath dist packaging\swag-studio.spec
if ($LASTEXITCODE) { exit $LASTEXITCODE }

$version = & $python -c "import swag_studio; print(swag_studio.__version__)"
if (Get-Command iscc -ErrorAction SilentlyContinue) {
    iscc "/DVersion=$version" packaging\windows\swag-studio.iss
}
